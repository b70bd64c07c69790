"""The session of the pages Runs and Matches: it begins jobs, stops them, goes on with them; they outlive it."""

from functools import partial
from typing import Annotated, Any

from pydantic import Field

from hauteur.games.registry import load_game
from hauteur.networks.names import default_net
from hauteur.system.settings import validated
from hauteur.web.job_orders import MatchOrder, RunOrder, match_job, resumed_job, run_job
from hauteur.web.jobs import SESSION, Desk, Job
from hauteur.web.players import nets_for, suggested_players
from hauteur.web.positions import Spec
from hauteur.web.sessions.pool import OnLine, OpenSession
from hauteur.web.sessions.session import Emit, Fields, PageSession, SessionSettings

WorkName = Annotated[str, Field(max_length=2000)]
"""Name of a folder of work in lists."""

VISITS = 100
"""Visits of the players that are offered."""
OPPONENT = "mcts:1000"
"""The second player of a match where no other is chosen."""


class JobSession(PageSession):
    """Requests about jobs. There are no events: lists and pages follow the jobs (`hauteur.web.watch`)."""

    name = SESSION

    def __init__(self, emit: Emit, settings: SessionSettings, desk: Desk) -> None:
        super().__init__(emit, settings)
        self._desk = desk

    def do_run(self, **fields: Any) -> Fields:
        """Begin a learning run. Reply: its name in lists."""
        return self._begin(run_job(validated(RunOrder, fields, "run"), self._desk))

    def do_match(self, **fields: Any) -> Fields:
        """Begin a match. Reply: its name in lists."""
        return self._begin(match_job(validated(MatchOrder, fields, "match"), self._desk))

    def do_go_on(self, name: WorkName) -> Fields:
        """Go on with a run or a match that was stopped; one that failed before it had a folder begins again."""
        known = self._desk.jobs.find(name)
        if known is not None and not known.folder.exists():
            return self._begin(Job(known.name, known.kind, known.title, known.folder, known.words, known.form))
        return self._begin(resumed_job(self._desk.folders.find(name), self._desk))

    def do_stop(self, name: WorkName) -> Fields:
        """Stop a job, where its work can go on later; at once if that was asked before."""
        self._desk.jobs.stop(name)
        return {}

    def do_remove(self, name: WorkName) -> Fields:
        """Take a job that has failed from the list."""
        self._desk.jobs.remove(name)
        return {}

    def do_players(self, game: Spec) -> Fields:
        """Reply: the players that are offered for a game, and the two of a match where none are chosen."""
        rules = load_game(game)
        own = f"net=rollout visits={VISITS}"
        if default_net(rules) is not None:
            own = f"visits={VISITS}"
        offered = [own]
        for entry in suggested_players(rules):
            if entry["text"]:
                offered.append(entry["text"])
        roots = [str(root) for root in self._desk.settings.roots]
        for name in nets_for(rules, roots):
            offered.append(f"net={name} visits={VISITS}")
        return {"a": own, "b": OPPONENT, "offered": list(dict.fromkeys(offered))}

    def _begin(self, job: Job) -> Fields:
        """Begin a job, or queue it; reply with its name in lists."""
        self._desk.jobs.begin(job)
        return {"name": job.name}


class JobSessions:
    """Sessions about jobs, of all clients. They do no work of their own, so the limit of searches is not theirs."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def take(self, _name: str, on_line: OnLine) -> OpenSession:
        """Open a session."""
        return OpenSession(partial(JobSession, desk=self._desk), SessionSettings(), on_line)

    async def give_back(self, session: OpenSession) -> None:
        """End a session."""
        await session.close()
