"""Recipes: defaults, overrides, messages about wrong settings, resuming."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hauteur import _core, networks
from hauteur.games.registry import load_game
from hauteur.learning.recipe import load_recipe, parse_recipe, recipe_toml
from hauteur.learning.run import learn
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.settled import ThisMachine, settled_recipe
from hauteur.learning.trainers import architecture_for, architecture_from
from hauteur.matches import fastest_layout
from hauteur.matches.arena import Layout
from hauteur.matches.play import play_match
from hauteur.networks.evaluators.base import Precision
from hauteur.networks.names import data_path, shipped_names

pytestmark = pytest.mark.quick

RUNS = Path(__file__).parents[2] / "runs"
SHIPPED = sorted([*RUNS.glob("*.toml"), *RUNS.glob("bundled/*.toml")])


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_shipped_recipes_are_whole(path: Path) -> None:
    """Each can be read, names a game and nets that fit it, and is the same when written out and read again."""
    recipe = load_recipe(path)
    game = load_game(recipe.game)
    for network in filter(None, (recipe.network, recipe.large)):
        assert architecture_for(game, network).num_actions == game.num_actions
    _core.Forest(game, recipe.selfplay.search, 1, 1)
    assert parse_recipe(tomllib.loads(recipe_toml(recipe)), "again") == recipe


GONE_ON_WITH = ("chess-zero", "connect4-64x6")
"""Nets of a recipe with other settings, gone on with (docs/experiments/from-zero.md)."""

GONE_ON_TO = {"go9": 75}
"""Nets of a run that went on beyond its recipe's generations (docs/experiments/bundled-nets.md)."""


def recipe_of(net: str) -> Path:
    """The recipe that makes a net that ships."""
    owns = (RUNS / f"{name}.toml" for name in (f"bundled/{net}_again", f"bundled/{net}", net))
    return next(own for own in owns if own.is_file())


@pytest.mark.parametrize("net", [net for net in shipped_names() if net not in GONE_ON_WITH])
def test_every_net_that_ships_has_a_recipe_of_its_shape(net: str) -> None:
    recipe = load_recipe(recipe_of(net))
    made = networks.describe(data_path(f"{net}.safetensors"))
    game = load_game(recipe.game)
    start = recipe.start
    begun = start is not None and start.net is not None and architecture_from(game, Path(start.net))[0]
    assert (begun or architecture_for(game, recipe.network)) == made.architecture
    if net != "tictactoe":  # made with an earlier form of its recipe (docs/experiments/bundled-nets.md)
        generations = GONE_ON_TO.get(net, recipe.run.generations)
        assert recipe.selfplay.games * generations == made.training["games"]
        assert str(recipe.train.batch_size * int(str(made.training["steps"]))) == str(made.training["samples"])


@pytest.mark.slow
@pytest.mark.parametrize("net", [net for net in shipped_names() if net not in ("chess", *GONE_ON_WITH)])
def test_recipes_of_shipped_nets_run_for_a_generation(net: str, tmp_path: Path) -> None:
    run = learn(recipe_of(net), "run.generations=1", out=tmp_path / "run", on_generation=lambda row: None)
    assert len(run.metrics) == 1
    assert networks.describe(run.best).architecture == networks.describe(data_path(f"{net}.safetensors")).architecture


@pytest.mark.slow
def test_the_recipe_of_the_chess_net_runs(tmp_path: Path) -> None:
    """The steps of its page in small: games at odds by a teacher's policy, and a student that learns from them."""
    teacher = "net=chess visits=1 temperature=1"
    match = play_match(teacher, teacher, "chess", games=144, openings=RUNS / "bundled/chess_odds.epd", max_plies=40)
    match.to_pgn(tmp_path / "games.pgn")
    overrides = (f"start.games=['{tmp_path}/games.pgn']", "start.distil_from=chess", "start.epochs=0.5")
    run = learn(RUNS / "bundled/chess.toml", *overrides, out=tmp_path / "run", on_generation=lambda row: None)
    assert networks.describe(run.best).architecture == networks.describe(data_path("chess.safetensors")).architecture


@pytest.fixture
def recipe_file(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text('game = "tictactoe"\n[selfplay]\ngames = 20\n[selfplay.search.cpuct]\ninit = 2.5\n')
    return path


def test_overrides_are_toml_values_or_bare_words(recipe_file: Path) -> None:
    recipe = load_recipe(recipe_file, ("selfplay.games=7", "gate.by=off", 'run.tag="b"', "train.symmetries=false"))
    assert (recipe.selfplay.games, recipe.gate.by, recipe.run.tag, recipe.train.symmetries) == (7, "off", "b", False)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("selfplay.gamse=7", "selfplay.gamse is not a setting (did you mean games?); allowed: episodes, "),
        (
            "selfplay.search.dirichlet.eps=1",
            "selfplay.search.dirichlet.eps is not a setting (did you mean epsilon?); allowed: epsilon, alpha",
        ),
        (
            "selfplay.games=0",
            "selfplay.games=0: selfplay.games must be a whole number from 1 to 1,000,000,000, got '0'",
        ),
        ("gate.by=maybe", "gate.by=maybe: gate.by must be 'match', 'sprt', 'episodes' or 'off', got 'maybe'"),
        (
            "gate.by=episodes",
            'gate.by=episodes: gate.by = "episodes" needs selfplay.episodes = "candidate-versus-best"',
        ),
        ("games", "is not of the form key=value"),
        ("game.x=1", "game is a value, not a section"),
        ("run.tag=../up", "run.tag"),
    ],
)
def test_wrong_settings_are_named(recipe_file: Path, override: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        load_recipe(recipe_file, (override,))


def test_what_is_wrong_is_the_file_s_or_an_override_s(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('game = "chess"\n[selfplay]\nvisits = 0\n')
    of_the_file = f"{path}: selfplay.visits must be a whole number from 1 to 1,000,000,000, got 0"
    for overrides in ((), ("run.seed=7",)):
        with pytest.raises(ValueError, match=f"^{re.escape(of_the_file)}$"):
            load_recipe(path, overrides)
    with pytest.raises(ValueError, match=r"^run\.seed=x: run\.seed must be a whole number .*, got 'x'$"):
        load_recipe(path, ("selfplay.visits=5", "run.seed=x"))
    assert load_recipe(path, ("selfplay.visits=5",)).selfplay.visits == 5


CONTEMPT = {"search": {"search_contempt": {"n_scl": 5}}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"start": {}}, "start needs net (weights) or games"),
        ({"start": {"distil_from": "x.safetensors", "net": "y"}}, "start.distil_from needs start.games"),
        ({"start": {"net": "y"}, "run": {"generations": 0}}, "run.generations = 0 (no self-play) needs start.games"),
        ({"start": {"large_net": "y.safetensors"}}, "start.large_net needs the section [large]"),
        ({"start": {"games": ["x"], "hold_out": 1.0}}, "start.hold_out"),
        ({"start": {"games": ["x"], "epoch": 1}}, "start.epoch is not a setting (did you mean epochs?); allowed: net"),
        ({"game": "nogo(size=7)", "controller": {}}, "nogo(size=7) knows no draws"),
        ({"controller": {"low": 9, "high": 8}}, "low must not be above high, got 9 and 8"),
        ({"controller": {}, "selfplay": CONTEMPT}, "n_scl is chosen by the controller"),
        ({"controller": {}, "selfplay": {"max_policy_lag": 1}}, "max_policy_lag must be 0 with a section [controller]"),
        ({"selfplay": {"episodes": "best-versus-opponent"}}, "needs a section [opponent]"),
        ({"opponent": {"net": "maia.pb.gz"}}, "[opponent] needs selfplay.episodes"),
        ({"large": {}}, "two nets need both sections"),
        ({"train": {"large_value_weight": 0.5}}, "large_value_weight needs the section [large], got 0.5 without it"),
        (
            {"large": {}, "selfplay": {"search": {"second_net": {"more": "20"}}}},
            "second_net.more must be empty: a run has at most two nets, got '20'",
        ),
        (
            {"selfplay": {"visits": 100, "playout_cap": {"fast_visits": 100}}},
            "less than visits, got 100 of 100",
        ),
        ({"selfplay": {"max_plies": 6, "opening_plies": 6}}, "max_plies must be more than opening_plies, got 6 and 6"),
        ({"selfplay": {"resignation": {"threshold": 0.5}}}, "must be a number of at least -1 and less than 0, got 0.5"),
    ],
)
def test_sections_that_do_not_fit_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_recipe({"game": "chess", **values}, "test")


def test_resuming_may_change_generations_and_threads_alone(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.create(parse_recipe({"game": "tictactoe"}, "stored"))
    changed = parse_recipe({"game": "tictactoe", "train": {"learning_rate": 0.5}}, "now")
    with pytest.raises(ValueError, match=r"a run with other settings: train.learning_rate was 0.001 and is now 0.5; "):
        folder.check_recipe(changed)
    folder.check_recipe(parse_recipe({"game": "tictactoe", "run": {"generations": 99, "threads": 3}}, "now"))


def test_a_partial_table_keeps_the_other_defaults() -> None:
    partial = parse_recipe(
        {
            "game": "tictactoe",
            "selfplay": {
                "temperature": {"endgame": 0.5},
                "search": {"cpuct": {"init": 3.0}, "fpu": {"kind": "absolute"}},
            },
            "gate": {"temperature": {"endgame": 0.1}},
        },
        "test",
    )
    whole = parse_recipe({"game": "tictactoe"}, "test")
    assert partial.selfplay.temperature == whole.selfplay.temperature.model_copy(update={"endgame": 0.5})
    assert partial.selfplay.search.cpuct == whole.selfplay.search.cpuct.model_copy(update={"init": 3.0})
    assert partial.selfplay.search.fpu == whole.selfplay.search.fpu.model_copy(update={"kind": "absolute"})
    assert partial.gate.temperature == whole.gate.temperature.model_copy(update={"endgame": 0.1})
    assert (whole.selfplay.temperature.initial, whole.selfplay.search.cpuct.factor) == (1.0, 0.0)


FOUR_THREADS = Layout(parallel=3072, batch_size=768, in_flight=4)


@dataclass(frozen=True)
class KnownMachine:
    """A machine of which all is known."""

    fastest: Precision = "float32"
    bfloat16: bool = False
    layout: Layout = FOUR_THREADS


class UnaskedMachine:
    """A machine of which nothing has to be known."""

    @property
    def fastest(self) -> Precision:
        raise AssertionError("no precision has to be measured")

    @property
    def bfloat16(self) -> bool:
        raise AssertionError("no instructions are asked for")

    @property
    def layout(self) -> Layout:
        raise AssertionError("no layout has to be measured")


@pytest.mark.parametrize("fastest", ["float32", "bfloat16"])
@pytest.mark.parametrize("bfloat16", [True, False])
def test_auto_precisions_are_settled_once(fastest: Precision, bfloat16: bool) -> None:
    """A run goes on as it has begun, whatever the processor is now, and nothing is measured again."""
    asked = parse_recipe({"game": "tictactoe"}, "recipe", ("run.precision=auto", "train.mixed_precision=auto"))
    settled = settled_recipe(asked, None, KnownMachine(fastest, bfloat16))
    kinds = (fastest, "bfloat16" if bfloat16 else "off")
    assert (settled.run.precision, settled.train.mixed_precision) == kinds
    assert settled_recipe(asked, settled, UnaskedMachine()) == settled
    plain = parse_recipe({"game": "tictactoe"}, "recipe")
    assert settled_recipe(plain, None, UnaskedMachine()) == plain


def test_games_at_a_time_are_settled_once() -> None:
    asked = parse_recipe({"game": "tictactoe"}, "recipe", ("selfplay.parallel_games=0",))
    settled = settled_recipe(asked, None, KnownMachine())
    played = settled.selfplay
    assert (played.parallel_games, played.batch_size, played.in_flight) == (3072, 768, 4)
    assert settled_recipe(asked, settled, UnaskedMachine()) == settled


def test_games_for_a_device_are_measured_with_the_nets_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fastest_layout, "WARM_UP", 0.02)
    monkeypatch.setattr(fastest_layout, "SECONDS", 0.05)
    small = ("network.filters=8", "network.blocks=1", "selfplay.games=8", "selfplay.visits=4", "run.threads=1")
    two = ("large.filters=8", "large.blocks=2", "selfplay.search.second_net.large_visits=1")
    device = ("run.backend=torch", "run.precision=auto", "selfplay.parallel_games=0")
    recipe = parse_recipe({"game": "tictactoe"}, "recipe", (*small, *two, *device))
    played = settled_recipe(recipe, None, ThisMachine(load_game(recipe.game), recipe)).selfplay
    tried = fastest_layout.layouts_to_try(cores=1, most_games=8)
    assert Layout(played.parallel_games, played.batch_size, played.in_flight) in tried


def test_a_run_writes_down_how_many_games_it_plays_at_a_time(tmp_path: Path) -> None:
    """The core's nets need no device: as many games as its threads have batches for."""
    small = ("network.filters=8", "network.blocks=1", "selfplay.games=4", "selfplay.visits=4", "gate.games=2")
    one = ("run.generations=1", "run.threads=1", "run.solved_positions=0", "selfplay.parallel_games=0")
    recipe = parse_recipe({"game": "tictactoe"}, "recipe", (*small, *one))
    run = learn(recipe, out=tmp_path / "run", on_generation=lambda row: None)
    played = run.recipe.selfplay
    assert (played.parallel_games, played.batch_size, played.in_flight) == (128, 128, 2)
    again = learn(recipe, "run.generations=2", out=tmp_path / "run", on_generation=lambda row: None)
    assert (len(again.metrics), again.recipe.selfplay) == (2, played)
