"""Pool of players who meet in matches, each in its own folder, and a ladder of opponents to rate them.

The rungs of the ladder are players without a net, each with about twice the simulations of the one below: against a
single fixed opponent most scores would be near 0 or 100 % and say little. A player to be placed climbs it in short
matches until its score crosses a half, and neighbouring rungs play each other, so that all ratings are connected.

Ratings use only games against rungs. Games between players sharing a net distort the scale: a deeper search with the
same net finds exactly the mistakes of the other, and wins by more than against unrelated players. Head-to-head matches
are reported beside the ratings instead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hauteur.games.registry import load_game
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.rating_list import Encounter, RatingList
from hauteur.matches.results import Tally
from hauteur.players.baselines import parse_baseline
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.matches import MatchSpec, match_seconds, play_matches

RUNGS = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 800_000)
"""Simulations a move of the players of the ladder; the MPV paper's opponent has 100,000."""
PROBE_GAMES = 24
"""Games that say whether to climb on; they are the first of the match with that rung."""
SIMULATIONS_A_SECOND = 120_000
"""Of the players of the ladder on 9x9, on one core (docs/reference/players.md)."""


@dataclass
class PlayerPool:
    """Players by name, and what they have played against each other.

    games: of a match, even; random_plies: that every pair of games begins with.
    """

    setting: ExperimentSetting
    game: str
    games: int
    random_plies: int
    players: dict[str, PlayerSettings] = field(default_factory=dict)
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)

    def enter(self, name: str, player: PlayerSettings) -> str:
        """Add a player; its name."""
        self.players[name] = player
        return name

    def spec(self, a: str, b: str, games: int | None = None) -> MatchSpec:
        """The match of two players of the field; a shorter one is the beginning of the whole one."""
        return MatchSpec(
            f"{a}-vs-{b}",
            self.players[a],
            self.players[b],
            self.games if games is None else min(games, self.games),
            game=self.game,
            random_plies=self.random_plies,
        )

    def meet(self, a: str, b: str, games: int | None = None) -> Tally:
        """Play or resume the match of two players; return the results from a's view."""
        spec = self.spec(a, b, games)
        self.tallies[a, b] = play_matches(self.setting, [spec])[spec.name].tally
        return self.tallies[a, b]


def encounters_of(a: str, b: str, tally: Tally) -> list[Encounter]:
    """The games of a match by who began."""
    first, second = tally.seats["first"], tally.seats["second"]
    found = [Encounter(a, b, first), Encounter(b, a, MatchScore(second.losses, second.draws, second.wins))]
    return [encounter for encounter in found if encounter.record.games]


@dataclass
class Ladder:
    """The rungs that a field is measured by; with `--opponent` there is that one alone."""

    field: PlayerPool
    used: set[int] = dataclasses.field(default_factory=set)

    @property
    def kind(self) -> str:
        """Kind of the rungs: rave for NoGo, plain tree search for other games."""
        return "rave" if load_game(self.field.game).name == "nogo" else "mcts"

    def rung(self, index: int) -> str:
        """Enter the rung; its name."""
        text = f"{self.kind}:{RUNGS[index]}"
        return self.field.enter(text.replace(":", ""), PlayerSettings(baseline=text))

    def near(self, player: str, begin: int) -> str:
        """The opponent against which a player's score is nearest to a half; begin: the rung to try first."""
        if self.field.setting.opponent is not None:
            return self.field.enter("opponent", parse_player(self.field.setting.opponent, "--opponent"))
        index = self._climb(player, min(max(begin, 0), len(RUNGS) - 1))
        self.used.add(index)
        return self.rung(index)

    def _climb(self, player: str, index: int) -> int:
        """Climb while the player scores more than a half, else descend; return the rung nearer a half at the turn."""
        before, way = 0.5, 0
        while True:
            score = self.field.meet(player, self.rung(index), PROBE_GAMES).record.score
            wanted = 1 if score > 0.5 else -1
            if way and wanted != way:
                return index if abs(score - 0.5) <= abs(before - 0.5) else index - way
            if not 0 <= index + wanted < len(RUNGS):
                return index
            before, way, index = score, wanted, index + wanted

    def ratings(self) -> RatingList:
        """Everybody who has met a rung, on one scale on which the player `zero` has 0."""
        self.link()
        rungs = {"opponent", *(self.rung(index) for index in range(len(RUNGS)))}
        met = [(pair, tally) for pair, tally in self.field.tallies.items() if pair[1] in rungs]
        encounters = [found for pair, tally in met for found in encounters_of(*pair, tally)]
        return rating_list(encounters, anchors={self.zero: 0.0})

    def link(self) -> None:
        """Neighbouring rungs, from the lowest that was used to the highest, play each other."""
        for index in range(min(self.used, default=0), max(self.used, default=0)):
            self.field.meet(self.rung(index + 1), self.rung(index))

    @property
    def zero(self) -> str:
        """The player with 0 Elo: the paper's opponent where it was used, else the lowest rung."""
        if self.field.setting.opponent is not None:
            return "opponent"
        paper = RUNGS.index(100_000)
        return self.rung(paper if paper in self.used else min(self.used))


def ladder_specs(field: PlayerPool, begins: Sequence[tuple[str, int]]) -> list[MatchSpec]:
    """Matches for an estimate that placing players costs besides those with their rung; none with `--opponent`.

    begins: each player that climbs, and the rung to try first. A climb is taken to probe the rungs beside that one, and
    the rungs that are used to be those from the lowest to the highest of these.
    """
    if field.setting.opponent is not None or not begins:
        return []
    ladder, last = Ladder(field), len(RUNGS) - 1
    probes = [(player, index) for player, begin in begins for index in (begin - 1, begin + 1) if 0 <= index <= last]
    lowest, highest = (end(begin for _, begin in begins) for end in (min, max))
    links = range(max(0, lowest - 1), min(last, highest + 1))
    return [
        *(field.spec(player, ladder.rung(index), PROBE_GAMES) for player, index in probes),
        *(field.spec(ladder.rung(index + 1), ladder.rung(index)) for index in links),
    ]


def nearest_rung(simulations: float) -> int:
    """Index of the rung with about so many simulations."""
    return min(range(len(RUNGS)), key=lambda index: abs(RUNGS[index] - simulations))


def field_seconds(setting: ExperimentSetting, specs: Iterable[MatchSpec]) -> float:
    """Seconds that matches take here: the nets' evaluations, measured, and the simulations of those without a net."""
    listed = list(specs)
    plies = {spec.game: usual_plies(spec.game) for spec in listed}
    seconds = 0.0
    for spec in listed:
        for player in (spec.a, spec.b):
            number = parse_baseline(player.baseline).number if player.baseline else None
            seconds += spec.games * plies[spec.game] / 2 * (number or 0) / SIMULATIONS_A_SECOND
    nets = sum(match_seconds(replace(setting, seeds=1), _of(listed, game), plies=plies[game]) for game in plies)
    return (seconds / setting.threads + nets) * setting.seeds


def _of(specs: Iterable[MatchSpec], game: str) -> list[MatchSpec]:
    return [spec for spec in specs if spec.game == game]


def usual_plies(game: str) -> float:
    """Moves of a game: in NoGo about 85 % of the points, elsewhere as many as there are points."""
    rules = load_game(game)
    _, rows, columns = rules.feature_shape
    return rows * columns * (0.85 if rules.name == "nogo" else 1.0)
