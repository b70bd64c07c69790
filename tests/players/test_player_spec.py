"""Players as text: every setting can be given, in short too; what is wrong is named."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.mcts.params import Cpuct, Dirichlet, Fpu, SearchParams, Temperature
from hauteur.players.settings import PlayerSettings, parse_player, player_text

pytestmark = pytest.mark.quick


def test_every_kind_of_key() -> None:
    settings = parse_player(
        "name='the first' net=nets/maia.pb.gz precision=bfloat16 visits=400 temperature=0.5 temperature.decay-moves=20 "
        "search.cpuct.init=1.5 fpu.kind=absolute search.root-policy-temperature=none reuse-tree=off dirichlet=on"
    )
    assert (settings.name, settings.net, settings.precision) == ("the first", "nets/maia.pb.gz", "bfloat16")
    assert settings.visits == 400
    assert settings.temperature == Temperature(initial=0.5, decay_moves=20)
    assert settings.search == SearchParams(
        cpuct=Cpuct(init=1.5), fpu=Fpu(kind="absolute"), reuse_tree=False, dirichlet=Dirichlet()
    )


def test_toml_file(tmp_path: Path) -> None:
    file = tmp_path / "strong.toml"
    file.write_text(
        "visits = 800\ntemperature = 0.3\n[search]\nreuse-tree = false\n[search.dirichlet]\n[cpuct]\ninit = 2"
    )
    expected = SearchParams(reuse_tree=False, dirichlet=Dirichlet(), cpuct=Cpuct(init=2))
    for word in (f"@{file}", str(file)):
        settings = parse_player(f"cpuct.factor=0 {word} visits=10 dirichlet=off")
        assert settings.visits == 10
        assert settings.temperature.initial == 0.3
        assert settings.search == expected.model_copy(update={"dirichlet": None, "cpuct": Cpuct(init=2, factor=0)})
    assert parse_player(str(file)).search == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("visits", "'visits' is neither key=value nor a .toml file"),
        ("=3", "'=3' is neither"),
        ("mtcs:50", r"'mtcs:50' is neither key=value nor a .toml file \(did you mean mcts\?\)"),
        ("uniform visits=3", "'uniform' is neither .*: a net is given as net=uniform"),
        ("visits=0", "visits must be a whole number from 1 to 1,000,000,000, got '0'"),
        ("visits=many", "visits must be a whole number .*, got 'many'"),
        ("visits=1 visits=2", "visits is given twice"),
        ("cpuct.init=1 search.cpuct.init=1", "search.cpuct.init is given twice"),
        ("vists=1", r"vists is not a setting \(did you mean visits\?\); allowed: name, baseline, engine, net"),
        ("search.cpcut.init=1", r"search.cpcut is not a setting \(did you mean cpuct\?\)"),
        ("search.cpuct.start=1", "search.cpuct.start is not a setting; allowed: init, base, factor"),
        (
            "search.cpuct=x",
            r"search.cpuct is a section: it is on, a number \(its init\), or one of its settings is given; got 'x'",
        ),
        ("dirichlet=2", r"search.dirichlet.epsilon must be a number from 0 to 1, got '2'"),
        ("visits.x=2", "visits is a value, not a section: it has no x"),
        ("search=1", "search is a section"),
        ("name='open", "No closing quotation"),
        ("dirichlet.epsilon=2", "search.dirichlet.epsilon must be a number from 0 to 1, got '2'"),
        ("nothing/x.toml", "No such file"),
    ],
)
def test_what_is_wrong_is_named(words: str, message: str) -> None:
    with pytest.raises((ValueError, OSError), match=message):
        parse_player(words, "player A")


@given(
    st.builds(
        PlayerSettings,
        name=st.text(max_size=8),
        net=st.none() | st.sampled_from(["uniform", "a b.pb.gz", "x'y.onnx"]),
        visits=st.integers(1, 10**9),
        temperature=st.builds(Temperature, initial=st.floats(0, 100), cutoff_move=st.integers(0, 99)),
        search=st.builds(
            SearchParams,
            cpuct=st.builds(Cpuct, init=st.floats(0, 100)),
            root_fpu=st.none() | st.builds(Fpu, kind=st.sampled_from(["reduction", "absolute"])),
            dirichlet=st.none() | st.builds(Dirichlet, alpha=st.floats(0.01, 10)),
            reuse_tree=st.booleans(),
            cache_size=st.integers(0, 1000),
        ),
    )
)
def test_the_text_of_a_player_gives_the_player(settings: PlayerSettings) -> None:
    assert parse_player(player_text(settings)) == settings
