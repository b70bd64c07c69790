"""hauteur: an AlphaZero laboratory and engine. `import hauteur as ht`.

A public name is imported from its module with its first use, so that `import hauteur` loads nothing but this file.
"""

TYPE_CHECKING = False  # as typing's, whose import would cost every start
if TYPE_CHECKING:
    from hauteur._core import Game as Game
    from hauteur._core import State as State
    from hauteur._core import __version__ as __version__
    from hauteur.games import games as games
    from hauteur.games.positions import exact_values as exact_values
    from hauteur.games.positions import position as position
    from hauteur.games.recorded import read_games as read_games
    from hauteur.games.registry import check_game as check_game
    from hauteur.games.registry import load_game as load_game
    from hauteur.games.registry import register_game as register_game
    from hauteur.learning.recipe import Recipe as Recipe
    from hauteur.learning.replay import ReplayBuffer as ReplayBuffer
    from hauteur.learning.run import LearningRun as LearningRun
    from hauteur.learning.run import learn as learn
    from hauteur.learning.run import self_play as self_play
    from hauteur.learning.sections import TrainSettings as TrainSettings
    from hauteur.learning.trainers import Trainer as Trainer
    from hauteur.matches.exact_call import exact_play as exact_play
    from hauteur.matches.play import play_match as play_match
    from hauteur.matches.play import rating_list as rating_list
    from hauteur.matches.play import sprt as sprt
    from hauteur.matches.play import tournament as tournament
    from hauteur.matches.ratings.rating_list import RatingList as RatingList
    from hauteur.matches.record import GameRecord as GameRecord
    from hauteur.matches.results import Tally as Tally
    from hauteur.mcts.analysis import Analysis as Analysis
    from hauteur.mcts.analysis import search as search
    from hauteur.mcts.analysis import search_batch as search_batch
    from hauteur.mcts.own_rules import Rule as Rule
    from hauteur.mcts.params import SearchContempt as SearchContempt
    from hauteur.mcts.params import SearchParams as SearchParams
    from hauteur.networks.architecture import ResNet as ResNet
    from hauteur.networks.evaluators.factory import evaluator as evaluator
    from hauteur.networks.registered import register_network as register_network
    from hauteur.networks.registry import load_network as load_network
    from hauteur.networks.registry import save_network as save_network
    from hauteur.players.chess_engine import PlayerEngine as PlayerEngine
    from hauteur.players.listing import nets as nets
    from hauteur.players.listing import settings as settings
    from hauteur.players.player import Player as Player
    from hauteur.plots import Figure as Figure
    from hauteur.plots import Series as Series
    from hauteur.studies.experiments import ExperimentFolder as ExperimentFolder
    from hauteur.studies.puzzles.call import puzzles as puzzles
    from hauteur.studies.review.call import review as review
    from hauteur.system.seeds import stream as stream

_MODULES = {
    # games
    "load_game": "hauteur.games.registry",
    "position": "hauteur.games.positions",
    "read_games": "hauteur.games.recorded",
    "register_game": "hauteur.games.registry",
    "check_game": "hauteur.games.registry",
    "Game": "hauteur._core",
    "State": "hauteur._core",
    # networks and evaluators
    "evaluator": "hauteur.networks.evaluators.factory",
    "load_network": "hauteur.networks.registry",
    "save_network": "hauteur.networks.registry",
    "register_network": "hauteur.networks.registered",
    "ResNet": "hauteur.networks.architecture",
    # search
    "SearchParams": "hauteur.mcts.params",
    "SearchContempt": "hauteur.mcts.params",
    "search": "hauteur.mcts.analysis",
    "search_batch": "hauteur.mcts.analysis",
    "Analysis": "hauteur.mcts.analysis",
    "Rule": "hauteur.mcts.own_rules",
    # what can be named
    "games": "hauteur.games",
    "nets": "hauteur.players.listing",
    "settings": "hauteur.players.listing",
    # players and matches
    "Player": "hauteur.players.player",
    "PlayerEngine": "hauteur.players.chess_engine",
    "play_match": "hauteur.matches.play",
    "exact_play": "hauteur.matches.exact_call",
    "sprt": "hauteur.matches.play",
    "tournament": "hauteur.matches.play",
    "RatingList": "hauteur.matches.ratings.rating_list",
    "Tally": "hauteur.matches.results",
    "rating_list": "hauteur.matches.play",
    "exact_values": "hauteur.games.positions",
    # studies of games
    "review": "hauteur.studies.review.call",
    "puzzles": "hauteur.studies.puzzles.call",
    # learning
    "self_play": "hauteur.learning.run",
    "ReplayBuffer": "hauteur.learning.replay",
    "Trainer": "hauteur.learning.trainers",
    "TrainSettings": "hauteur.learning.sections",
    "learn": "hauteur.learning.run",
    "LearningRun": "hauteur.learning.run",
    "Recipe": "hauteur.learning.recipe",
    "GameRecord": "hauteur.matches.record",
    # experiments
    "ExperimentFolder": "hauteur.studies.experiments",
    "Figure": "hauteur.plots",
    "Series": "hauteur.plots",
    "stream": "hauteur.system.seeds",
    "__version__": "hauteur._core",
}
"""Every public name with the module that defines it."""

__all__ = list(_MODULES)

_CALLED_HERE = {
    "analyse": "ht.search",
    "analyze": "ht.search",
    "analysis": "ht.search, or ht.Analysis for a game that is followed",
    "best_move": "ht.search(position).best_move",
    "Board": 'ht.position("chess")',
    "Chess": 'ht.position("chess")',
    "new_game": "ht.position",
    "start": "ht.position",
    "game": "ht.load_game",
    "Engine": "ht.Player(...).as_engine()",
    "engine": "ht.Player(...).as_engine()",
    "match": "ht.play_match",
    "prove": "ht.exact_play",
    "play": "ht.play_match; a person plays by `hauteur play`",
    "selfplay": "ht.self_play",
    "train": "ht.learn",
    "Net": "ht.load_network, or ht.evaluator",
    "Network": "ht.load_network, or ht.evaluator",
    "load_net": "ht.load_network, or ht.evaluator",
    "load": "ht.load_network, ht.load_game",
    "MCTS": "ht.search, ht.Analysis",
    "mine": "ht.puzzles",
    "annotate": "ht.review",
}
"""Names that others have for something, and what to write here; an error says so."""


def __getattr__(name: str) -> object:
    """Return a public name, imported from the module that defines it.

    Raise AttributeError for another name, and ImportError, with the command that installs it, where a layer is missing
    that the name needs.
    """
    if name not in _MODULES:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from hauteur.system.hints import unknown_attribute

        raise unknown_attribute(f"module {__name__!r}", name, _CALLED_HERE)
    from importlib import import_module

    try:
        defined: object = getattr(import_module(_MODULES[name]), name)
    except ModuleNotFoundError as error:
        from hauteur.system.extras import missing_line

        line = missing_line(f"hauteur.{name}", [(error.name or "").partition(".")[0]])
        if line is None:
            raise
        raise ImportError(line, name=error.name) from error
    globals()[name] = defined
    return defined


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
