"""The session of the page Explain: two searches of one position, what differs, and what each rule did."""

import time
from typing import Annotated, Any

from pydantic import Field

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.networks.names import resolve_net
from hauteur.studies.explain.explain import children_json, explain
from hauteur.studies.explain.question import (
    BATCH_SIZE,
    DEFAULT_VISITS,
    MOST_BATCH,
    MOST_VISITS,
    ExplainedSearch,
    ExplainStopped,
    Question,
    Searches,
    Side,
    checked_side,
    net_name,
)
from hauteur.system.settings import Section, validated
from hauteur.web.players import net_names, page_net
from hauteur.web.positions import PlaceFields, game_at, position_view
from hauteur.web.search_form import SettingTexts, chosen_search
from hauteur.web.sessions.session import Emit, Fields, NetName, SeedNumber, SessionSettings, WorkSession

ADVICE = "choose one of the list"


class ExplainedSide(Section):
    """Net and settings of a search. net: empty: the game's own; large_net: empty: none."""

    net: NetName = ""
    large_net: NetName = ""
    settings: SettingTexts = Field(default_factory=dict)


class QuestionFields(PlaceFields):
    """A position and two sides."""

    a: ExplainedSide = ExplainedSide()
    """Net and settings of the first search."""
    b: ExplainedSide = ExplainedSide()
    """Net and settings of the second search."""
    visits: Annotated[int, Field(ge=2, le=MOST_VISITS)] = DEFAULT_VISITS
    """Visits of the root in each search, its own evaluation included."""
    seed: SeedNumber = 0
    """Seed of the random draws of both."""
    batch_size: Annotated[int, Field(ge=1, le=MOST_BATCH)] = BATCH_SIZE
    """Maximum rows of a batch, which changes the trees of searches with leaves in flight."""


class ExplainSession(WorkSession):
    """One comparison at a time; its two trees are kept until the next one."""

    name = "explain"

    def __init__(self, emit: Emit, settings: SessionSettings) -> None:
        super().__init__(emit, settings)
        self._searches: Searches | None = None
        self._trees: tuple[ExplainedSearch, ExplainedSearch] | None = None

    def do_open(self, **fields: Any) -> Fields:
        """Reply: the position."""
        place = validated(PlaceFields, fields, "position")
        return {"position": position_view(game_at(place).state, flip=place.flip)}

    def do_nets(self) -> Fields:
        """Reply: the names of nets that a page may give."""
        return {"nets": net_names(self.settings.roots)}

    def do_start(self, **fields: Any) -> Fields:
        """Compare. Events: `progress` (done and share: of `of` searches; left: seconds), then `done` with the result of
        `hauteur explain --json`, or `failed`.
        """
        asked = validated(QuestionFields, fields, "question")
        game = game_at(asked)
        a = self._side(asked.a, game.game, "side A")
        b = self._side(asked.b, game.game, "side B")
        question = Question(game.start, tuple(game.actions), a, b, asked.visits, asked.seed, asked.batch_size)
        self.close()
        searches = self._searches = Searches(question)
        self.begin(lambda: self._explain(question, searches), "explain")
        return {}

    def do_children(
        self, line: Annotated[tuple[Annotated[int, Field(ge=0, le=65_535)], ...], Field(max_length=2000)] = ()
    ) -> Fields:
        """Reply: the moves after a line, a node by its actions, in both trees of the last comparison."""
        if self._trees is None:
            raise ValueError("there is no comparison yet")
        return {"children": children_json(*self._trees, line)}

    def ask_to_stop(self) -> None:
        """Stop the comparison; the search that runs ends first."""
        if self._searches is not None:
            self._searches.stop()

    def close(self) -> None:
        """End the comparison and forget its two trees, with their nets."""
        self.stop()
        if self._searches is not None:
            self._searches.close()
        self._searches = self._trees = None

    def _side(self, fields: ExplainedSide, game: _core.Game, label: str) -> Side:
        """Return one side's net and settings; ValueError, begun with its label, for what pages may not name."""
        roots = self.settings.roots
        words = []
        if fields.net:
            small = page_net(fields.net, roots, label)
            words.append(f"net={net_name(small)}")
        else:
            small = resolve_net(None, game, advice=ADVICE).path
        large = page_net(fields.large_net, roots, label) if fields.large_net else ""
        if large:
            words.append(f"large_net={net_name(large)}")
        words += [f"{key}={value}" for key, value in fields.settings.items()]
        search = chosen_search(fields.settings, label)
        nets = NetChoice(small, large, threads=self.settings.threads)
        return checked_side(Side(" ".join(words), nets, search), label)

    def _explain(self, question: Question, searches: Searches) -> None:
        """Compare, with events on the way; a comparison that is stopped keeps no trees."""
        began = time.monotonic()
        at: dict[str, Any] = {}

        def progress(share: float) -> None:
            done = at["done"] + share
            left = None
            if done > 0.1:
                gone = time.monotonic() - began
                left = gone * (at["of"] - done) / done
            self.emit("progress", {**at, "share": done / at["of"], "left": left})

        def step(done: int, of: int, what: str) -> None:
            at.update(done=done, of=of, what=what)
            progress(0.0)

        searches.on_progress = progress
        try:
            found = explain(question, searches, step)
            self._trees = searches.of(question.a), searches.of(question.b)
            self.emit("done", found, latest=False)
        except ExplainStopped:
            self.emit("stopped", {}, latest=False)
