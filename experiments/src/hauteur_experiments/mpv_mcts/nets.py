"""Nets of the MPV experiments: those given, or trained as in the paper on games of the fixed opponent.

Section 4.2 of the paper: f(64, 5) and f(128, 10), and for figure 3 four intermediate sizes, are trained on 200,000
games of HaHaNoGo against itself with 50,000 simulations per move, about 10^7 positions. Here the player `rave` plays
them. Heads are those of AlphaGo Zero (two policy planes, one value plane, 256 hidden); optimiser, learning rate and
epochs are not stated; they are our choice.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hauteur import networks
from hauteur.games.game_line import NO_NET, GameLine
from hauteur.games.registry import load_game
from hauteur.learning.game_files.importing import SHARD_GAMES, record_of
from hauteur.learning.recipe import NetworkSettings, Recipe, parse_recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.matches.results import MatchGame
from hauteur.networks.architecture import ResNetArchitecture
from hauteur.networks.shapes import resnet_shapes
from hauteur.players.settings import PlayerSettings
from hauteur_experiments.alphazero_report.learning import SeedDisplay
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.matches import MatchSpec, net_speed, play_matches
from hauteur_experiments.mpv_mcts.pairs import BUDGETS, Pair, Size, size_name
from hauteur_experiments.player_pool import field_seconds, usual_plies

PAPER_GAME = "nogo"
BATCH = 512
TRAINING_COST = 3.0
"""Work of a position in training, in evaluations: forward and twice that backward."""


@dataclass(frozen=True)
class Teacher:
    """Games that nets learn from. games: at full scale; simulations: a move of `rave`; budget: they are fewer where the
    largest budget of an experiment is below this one, None: never; epochs: so often each position is learned.
    """

    games: int = 200_000
    simulations: int = 50_000
    budget: int | None = max(BUDGETS)
    epochs: int = 10

    def match(self, setting: ExperimentSetting) -> MatchSpec:
        """The teacher against itself from the empty board."""
        share = 1.0 if self.budget is None else setting.visits_or(self.budget) / self.budget
        simulations = max(1, round(self.simulations * share))
        player = PlayerSettings(baseline=f"rave:{simulations}")
        games = setting.scaled(self.games, 2)
        return MatchSpec("teacher", player, player, games, game=game_of(setting), colours="first")


PAPER_TEACHER = Teacher()


def game_of(setting: ExperimentSetting) -> str:
    """Return the game of the nets, or the one requested; ValueError if they differ."""
    wanted = None if setting.game is None else load_game(setting.game).spec
    for net in setting.nets:
        game = networks.describe(net).game if net.is_file() else RunFolder(net).stored_recipe().game
        spec = load_game(str(game)).spec
        if wanted not in (None, spec):
            raise ValueError(f"{net} is for {spec}, not for {wanted}")
        wanted = spec
    return wanted or load_game(PAPER_GAME).spec


def supervised_nets(setting: ExperimentSetting, sizes: Sequence[Size], teacher: Teacher = PAPER_TEACHER) -> list[Path]:
    """The nets that were given, all for one game, or nets of these sizes learned here, where they are not there yet."""
    game_of(setting)
    if setting.nets:
        return list(setting.nets)
    shards = teacher_games(setting, teacher)
    return [_learned(setting, supervised_recipe(setting, size, shards, teacher.epochs), size) for size in sizes]


def pair_of(nets: Sequence[Path]) -> Pair:
    """Two nets as a pair; ValueError where there are others than two."""
    if len(nets) != 2:
        raise ValueError(f"this experiment needs two nets, --net SMALL --net LARGE, got {len(nets)}")
    return Pair(nets[0], nets[1])


def teacher_games(setting: ExperimentSetting, teacher: Teacher) -> Path:
    """Play them; the folder of their shards."""
    spec, folder = teacher.match(setting), setting.folder / "teacher-shards"
    played = play_matches(setting, [spec])[spec.name].games
    for number, begin in enumerate(range(0, len(played), SHARD_GAMES)):
        path = folder / f"gen-00000-{number:04d}.parquet"
        if not path.exists():
            _write_shard(path, spec.game, played[begin : begin + SHARD_GAMES])
    return folder


def _write_shard(path: Path, game: str, played: Sequence[MatchGame]) -> None:
    from hauteur.learning.shards import write_shard  # here: the list of experiments needs no pyarrow

    rules = load_game(game)
    records = []
    for match_game in played:
        state, actions = rules.new_initial_state(), list[int]()
        for text in match_game.moves.split():
            actions.append(state.parse(text))
            state.apply(actions[-1])
        outcome = 1 if (match_game.score == 1.0) == (match_game.a == "first") else -1
        records.append(record_of(rules, GameLine(tuple(actions), outcome, match_game.end), match_game.index))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_shard(path, rules.spec, records, generation=0, nets=[NO_NET, NO_NET])


def network_values(size: Size) -> dict[str, Any]:
    """AlphaGo Zero's tower of this size, as a section of a recipe."""
    filters, blocks = size
    heads = {"policy_channels": 2, "value_channels": 1, "value_hidden": 256, "value": "scalar"}
    return {"filters": filters, "blocks": blocks, **heads}


def supervised_recipe(setting: ExperimentSetting, size: Size, shards: Path, epochs: int) -> Recipe:
    """Learning from the teacher's games alone."""
    values = {
        "game": game_of(setting),
        "network": network_values(size),
        "start": {"games": [str(shards)], "epochs": epochs},
        "train": {"batch_size": BATCH, "learning_rate": 2e-3, "weight_decay": 1e-4},
        "run": {"generations": 0, "threads": setting.threads, "tag": "supervised"},
    }
    return parse_recipe(values, "supervised net")


def _learned(setting: ExperimentSetting, recipe: Recipe, size: Size) -> Path:
    """Return the net of this size; its training run resumes."""
    from hauteur.learning.pipeline import learn

    folder = RunFolder(setting.folder / "nets" / size_name(size))
    display = SeedDisplay(setting.show, size_name(size))
    learn(recipe, folder=folder.path, display=display)
    return folder.best()


@contextmanager
def nets_for_estimate(setting: ExperimentSetting, sizes: Sequence[Size]) -> Iterator[list[Path]]:
    """The nets that were given, or nets of these sizes that know nothing: they are as fast as those to be learned."""
    if setting.nets:
        yield list(setting.nets)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield [_blank_net(Path(folder), game_of(setting), size) for size in sizes]


def _blank_net(folder: Path, game: str, size: Size) -> Path:
    """A net of zeros."""
    rules, sizes = load_game(game), NetworkSettings.model_validate(network_values(size))
    architecture = ResNetArchitecture.sized(sizes, rules.feature_shape, rules.num_actions)
    tensors = {
        name: np.full(shape, 1.0 if name.endswith("running_var") else 0.0, np.float32)
        for name, shape in resnet_shapes(architecture).items()
    }
    path = folder / f"{size_name(size)}.safetensors"
    networks.save(path, architecture, tensors, game=rules.spec)
    return path


def learning_seconds(setting: ExperimentSetting, nets: Sequence[Path], teacher: Teacher = PAPER_TEACHER) -> float:
    """Estimate of the teacher's games and of learning from them with nets like these; 0 where nets were given."""
    if setting.nets:
        return 0.0
    spec = teacher.match(setting)
    positions = spec.games * usual_plies(spec.game)
    seconds = field_seconds(setting, [spec])
    for net in nets:
        seconds += positions * teacher.epochs * TRAINING_COST / speed_of(setting, net)
    return seconds


def speed_of(setting: ExperimentSetting, net: Path) -> float:
    """Evaluations of a net a second, in full batches on the setting's threads."""
    return net_speed(setting, load_game(str(networks.describe(net).game)), str(net), PlayerSettings(net=str(net)))
