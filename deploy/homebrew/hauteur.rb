# A formula for a tap of one's own, which Homebrew asks for, from the sdist that `maturin sdist --out dist` writes:
#
#   brew tap-new --no-git "$USER/hauteur"
#   ln -s "$PWD/deploy/homebrew/hauteur.rb" "$(brew --repository "$USER/hauteur")/Formula/"
#   brew install "$USER/hauteur/hauteur"
class Hauteur < Formula
  desc "AlphaZero laboratory and engine: learns games from zero, plays and analyses them"
  # The tap has a link to this file: the sdist is beside what the link names.
  url "file://#{File.expand_path("../../dist/hauteur-0.1.0.tar.gz", File.dirname(File.realpath(__FILE__)))}"
  version "0.1.0"
  license "GPL-3.0-or-later"

  depends_on "rust" => :build
  depends_on "python@3.13"

  def install
    # What Python needs is in pyproject.toml alone: pip gets it, into an environment of the formula's own.
    system Formula["python@3.13"].opt_bin/"python3.13", "-m", "venv", libexec
    system libexec/"bin/pip", "install", buildpath
    bin.install_symlink libexec/"bin/hauteur", libexec/"bin/hauteur-uci"
  end

  test do
    assert_match " 0 losses", shell_output("#{bin}/hauteur prove tictactoe --visits 50")
  end
end
