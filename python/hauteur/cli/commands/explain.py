"""`hauteur explain`: two searches of one position side by side, and what each rule did."""

import json as json_format
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur.cli.commands.engine import find_position
from hauteur.cli.commands.options import GameArgument, NetName, PlayerText, SearchSettings, Seed, Words
from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.base import Precision
from hauteur.players.settings import PlayerSettings
from hauteur.studies.explain.question import BATCH_SIZE, DEFAULT_VISITS, PRESETS, Question, side_of
from hauteur.system.progress import ProgressLine


@Parameter(name="*")
@dataclass(frozen=True)
class ExplainOptions:
    """The position and the two sides."""

    a: PlayerText = PRESETS["search-contempt"][0]
    """First side: key=value words such as "search_contempt.n_scl=5 net=maia-1900 cpuct.init=2", with any setting of the
    search, net, large_net, precision. Without --a and --b: search-contempt with N_scl 5 against off."""
    b: PlayerText = PRESETS["search-contempt"][1]
    """Second side, in the same form; "": what both have in common."""
    net: NetName | None = None
    """Net of both, as in `hauteur analyse`."""
    fen: str | None = None
    """Chess and minichess: the position. Default: the start of the game."""
    moves: Words = ()
    """Moves played from there, in any notation of the game."""
    visits: int = DEFAULT_VISITS
    """Visits of the root, its own evaluation included."""
    seed: Seed = 0
    """Of all random draws."""
    batch_size: int = BATCH_SIZE
    """Maximum positions evaluated together; 1: exactly sequential search."""
    threads: Annotated[int, Parameter(validator=Number(gte=0, lte=1024))] = 0
    """Threads of the net on the processor; 0: one a core."""
    precision: Precision | None = None
    """Of the nets: float32, bfloat16, float16; default: what suits the backend."""
    multipv: Annotated[int, Parameter(validator=Number(gte=1, lte=500))] = 10
    """How many moves to show."""
    json: bool = False
    """Print one JSON object instead."""
    search: SearchSettings = SearchParams()  # noqa: RUF009  (immutable)
    """Settings of the search of both sides."""

    def question(self, spec: str) -> Question:
        """Return what is compared; ValueError for what is not allowed."""
        start, actions, _ = find_position(spec, self.fen, self.moves)
        given: dict[str, Any] = {}
        if self.net is not None:
            given["net"] = self.net
        if self.precision is not None:
            given["precision"] = self.precision
        if self.search.model_fields_set:
            given["search"] = self.search.model_dump(exclude_unset=True)
        common = PlayerSettings.model_validate(given)
        a = side_of(self.a, start.game, "--a", common, self.threads)
        b = side_of(self.b, start.game, "--b", common, self.threads)
        return Question(start, actions, a, b, visits=self.visits, seed=self.seed, batch_size=self.batch_size)


def explain(spec: GameArgument = "chess", *, options: ExplainOptions = ExplainOptions()) -> int:
    """Search a position with two settings, or two nets: moves and trees side by side, and what every rule did.

    Both searches have the same position, seed and visits. What a rule did is counted in its tree, and measured by one
    more search with this rule alone off.

    Parameters
    ----------
    spec
        Game, such as chess, connect4, nogo(size=7).
    """
    question = options.question(spec)
    found = _explained(question)
    if options.json:
        print(json_format.dumps(found, allow_nan=False))
    else:
        from hauteur.studies.explain.explain import explain_text

        print(question.position.text())
        print(explain_text(found, rows=options.multipv))
    return 0


def _explained(question: Question) -> dict[str, Any]:
    from hauteur.studies.explain.explain import explain as compare
    from hauteur.studies.explain.question import Searches

    with Searches(question) as searches, ProgressLine(None, "opening the nets", left=True) as line:

        def step(done: int, of: int, what: str) -> None:
            line.show(what, done / of)
            searches.on_progress = lambda share: line.show(what, (done + share) / of)

        return compare(question, searches, step)
