"""The runs of the laboratory's plan: each experiment at a size that can decide its claims.

Sizes are stated here before the games are played. Runs of one game and one setting share their games where they lie
beside each other, as in the folder of a plan. Chess has fewer visits than the papers, since its nets are slow;
minichess has the papers'.
"""

from __future__ import annotations

from hauteur_experiments.plan import PlannedRun

ODDS = "--game 'minichess(fen=rnbqk/ppppp/5/PPPPP/1NB1K w - - 0 1)'"
"""White gives rook and queen."""

CHESS_ODDS = "--game 'chess(fen=rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NB1KBN1 w kq - 0 1)'"
"""White gives the queen and both rooks."""

CONTEMPT = f"""
contempt-wdl minichess | 400 games a set, 1,000 visits | --scale 4 --game minichess
contempt-wdl chess | 400 games a set, 200 visits | --scale 4 --visits 200 --net 0
temperature-wdl minichess | 400 games a set, 1,000 visits | --scale 4 --game minichess
temperature-wdl chess | 400 games a set, 200 visits | --scale 4 --visits 200 --net 0
contempt-vs-temperature minichess | tuned with 500 games a point, 1,000 games, 1,000 visits | --scale 5 --game minichess
contempt-odds minichess | 400 games a cell, 100 to 6,400 nodes, an odds taker of 10 visits | \
    --scale 2 --visits 6400 {ODDS}
contempt-odds minichess-1 | 400 games a cell, 100 to 1,600 nodes, an odds taker of 1 visit | \
    --scale 2 --visits 1600 {ODDS} --opponent "visits=1 temperature=0.5"
contempt-odds minichess-3 | 400 games a cell, 100 to 1,600 nodes, an odds taker of 3 visits | \
    --scale 2 --visits 1600 {ODDS} --opponent "visits=3 temperature=0.5"
contempt-odds minichess-30 | 400 games a cell, 100 to 1,600 nodes, an odds taker of 30 visits | \
    --scale 2 --visits 1600 {ODDS} --opponent "visits=30 temperature=0.5"
contempt-odds chess-1 | 200 games a cell, 100 to 1,600 nodes, an odds taker of 1 visit | \
    --visits 1600 --opponent "visits=1 temperature=0.5" --net 0
contempt-odds chess-10 | 200 games a cell, 100 to 1,600 nodes, an odds taker of 10 visits | \
    --visits 1600 --opponent "visits=10 temperature=0.5" --net 0
odds-models chess | 200 games a cell, 100 and 400 nodes, an odds taker of 1 visit | \
    {CHESS_ODDS} --opponent "net=maia-1500 visits=1 temperature=1" --net 0
repeats minichess | 2,000 games a set, 50 visits | --scale 20 --visits 50 --game minichess
repeats chess | 2,000 games a set, 50 visits | --scale 20 --visits 50 --net 0
contempt-positions minichess | 400 games and 2,000 positions a set | --scale 4 --game minichess
contempt-positions | 400 games and 2,000 positions a set | --scale 4 --visits 200 --net 0
contempt-positions second-net | 400 games and 2,000 positions a set | --scale 4 --visits 200 --net 1
contempt-schedule | 6 seeds, 300 games a generation | --scale 0.1 --seeds 6 --visits 100
contempt-training | 8 seeds an arm |
"""
MPV = """
mpv-regime-nets | 400 games of small against large net, 600 of the pair against each where they are level, a seed | \
    --seeds 3 --visits 64
"""
RULES = """
tree-balance | 400 games of the first setting, 260 to 400 of the others, 100 visits | --scale 0.4 --visits 100 --net 0
solver solver | 400 games, 100 visits | --scale 0.4 --visits 100 --only solver --net 0
solver certainty | 1,000 games a match, 100 visits | \
    --scale 0.1 --visits 100 --only certainty --only auto-extend --net 0
prior-mixing | 400 games, 100 visits | --scale 0.64 --visits 100 --net 0
q-average | 1,600 games a match, 100 visits | --scale 0.16 --visits 100 --net 0
variance | 400 games, 100 visits | --scale 0.4 --visits 100 --net 0
initial-trust | 400 games a match, 100 visits | --scale 0.4 --visits 100 --net 0
fpu | 400 games a match, 100 visits | --scale 0.4 --visits 100 --net 0
cpuct | 400 games, 100 visits | --scale 0.57 --visits 100 --net 0
validation | 1,000 games, 100 visits | --scale 0.1 --visits 100 --net 0
"""
BY_GAME = """
rules-by-game connect4 | 1,000 games a cell | --visits 100 --only connect4
rules-by-game minichess | 1,000 games a cell | --visits 100 --only minichess
rules-by-game nogo7 | 1,000 games a cell | --visits 100 --only nogo7
rules-by-game chess | 400 games a cell | --visits 100 --only chess --net 0
"""
REPORT = """
report-fig3 | 10 seeds | --seeds 10 --first-seed 11
report-fig4 | 10 seeds | --seeds 10 --first-seed 11
report-fig5 | 10 seeds | --seeds 10 --first-seed 11
report-fig6 | 10 seeds | --seeds 10 --first-seed 11
"""
LEARNING = """
learning-methods | 8 seeds an arm, 4,000,000 evaluations a run, 1,000,000 at few visits |
"""
"""A line a run: experiment and the rest of the run's name | its size in words | options, the net as its number."""


def _runs(lines: str) -> tuple[PlannedRun, ...]:
    texts = lines.replace("\\\n", "").strip().splitlines()
    return tuple(PlannedRun.from_text(text) for text in texts)


def _experiments(lines: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.experiment for run in _runs(lines)))


RUNS = _runs(CONTEMPT) + _runs(MPV) + _runs(RULES) + _runs(BY_GAME) + _runs(REPORT) + _runs(LEARNING)


def run_named(name: str) -> PlannedRun:
    """The run of this name; ValueError where there is none."""
    for run in RUNS:
        if run.name == name:
            return run
    raise ValueError(f"the plan has no run {name!r}; it has {', '.join(run.name for run in RUNS)}")


SUBJECTS = {
    "Search-contempt": _experiments(CONTEMPT),
    "Two nets in one tree": (*_experiments(MPV), "mpv-allocation", "mpv-midsize", "mpv-az-pairs", "mpv-training"),
    "The MCTS experiments": _experiments(RULES),
    "The AlphaZero implementation report": _experiments(REPORT),
    "Learning": _experiments(LEARNING),
}
"""The experiments whose claims stand in the table, by subject."""
