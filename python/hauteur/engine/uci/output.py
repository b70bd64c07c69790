"""Search reports as info lines in lc0's format."""

from collections.abc import Iterator

from hauteur.engine.uci.options import BYTES_A_CACHED_POSITION, Options
from hauteur.games.played_game import texts_of
from hauteur.mcts.report import RootMove, RootReport
from hauteur.mcts.scores import permille, score


def info_lines(report: RootReport, options: Options) -> Iterator[str]:
    """Yield one info line for each of the best MultiPV moves."""
    lines = options.whole("MultiPV")
    full = hashfull(report, options)
    for rank, move in enumerate(report.moves[:lines], 1):
        yield " ".join(
            [
                "info",
                f"depth {max(1, round(report.pace.depth))} seldepth {report.seldepth}",
                f"time {round(1000 * report.pace.seconds)}",
                f"nodes {move.visits if options.flag('PerPVCounters') else report.visits}",
                score_text(report, move, options),
                *_wdl_text(report, move, options),
                f"hashfull {full} nps {round(report.pace.visits_per_second)}",
                *([f"eps {round(report.pace.rows_per_second)}"] if options.flag("UCI_ShowEPS") else []),
                f"tbhits {report.pace.tablebase_hits}",
                *([f"multipv {rank}"] if lines > 1 else []),
                "pv " + " ".join(texts_of(report.state, move.line, "uci")),
            ]
        )


def score_text(report: RootReport, move: RootMove, options: Options) -> str:
    """Return `score mate` where the end is certain, else `score cp` of the kind that ScoreType names."""
    if move.mate is not None:
        return f"score mate {move.mate}"
    wl, d = wl_and_d(report, move)
    q = move.q if move.visits else wl
    value = score(options.text("ScoreType"), wl=wl, d=d, q=q)
    return f"score cp {value}"


def wl_and_d(report: RootReport, move: RootMove) -> tuple[float, float]:
    """Return W - L and D of a move; of the root as long as the move has no visit."""
    win, draw, loss = move.wdl or report.wdl
    return win - loss, draw


def hashfull(report: RootReport, options: Options) -> int:
    """Return the size of the tree in thousandths of its cap."""
    return min(1000, 1000 * report.memory // options.memory()[0])


def verbose_lines(report: RootReport, options: Options) -> Iterator[str]:
    """Yield statistics of every move, the best one last, then of the root, in lc0's format (VerboseMoveStats)."""
    for move in reversed(report.moves):
        text = report.state.action_to_text(move.action, "uci")
        index = f"({move.action:<4}) "
        counts = _counts(move.visits, move.in_flight, move.prior)
        yield f"info string {text:<5} {index}{counts}{_values(move)}"
    yield f"info string {_root_line(report, options)}"


def evaluation_lines(report: RootReport, options: Options) -> list[str]:
    """Return the line about the evaluations of a search that has ended (UCI_ShowEPS)."""
    pace = report.pace
    line = f"info string evaluations {pace.rows}, batches {pace.batches}, fill {pace.fill:.4f}"
    return [line] if options.flag("UCI_ShowEPS") else []


def report_lines(report: RootReport, options: Options) -> list[str]:
    """Return the lines about a running search."""
    live = verbose_lines(report, options) if options.flag("LogLiveStats") else ()
    return [*info_lines(report, options), *live]


def memory_text(options: Options) -> str:
    """Describe the memory that the search may take, in one line."""
    tree, positions = options.memory()
    cache = positions * BYTES_A_CACHED_POSITION / 1e6
    return f"memory: tree up to {tree / 1e6:,.0f} MB, {positions:,} evaluations up to about {cache:,.0f} MB"


def _wdl_text(report: RootReport, move: RootMove, options: Options) -> list[str]:
    """Return the chances in thousandths, in a list of one, or none where UCI_ShowWDL is off."""
    if not options.flag("UCI_ShowWDL"):
        return []
    return ["wdl {} {} {}".format(*permille(*wl_and_d(report, move)))]


def _counts(visits: int, in_flight: int, share: float) -> str:
    """Return visits, those in flight and the prior in percent; 100 % has one place, to keep the width of the column."""
    places = 1 if share >= 0.99995 else 2
    return f"N: {visits:>7} (+{in_flight:>2}) (P: {100 * share:>5.{places}f}%) "


def _values(move: RootMove) -> str:
    """Return chances, Q, U, score and the net's value; hyphens stand for what is not known before a visit."""
    moved = "(WL:  -.-----) (D: -.---) (M:  -.-) "
    if move.wdl is not None:
        win, draw, loss = move.wdl
        moved = f"(WL: {win - loss:>8.5f}) (D: {draw:>5.3f}) (M:  0.0) "
    # As in lc0, a result that tables know is the value and ends the line too.
    is_end = move.terminal or (move.value is None and move.proven is not None)
    network = move.q if is_end else move.value
    value = "(V:  -.----)" if network is None else f"(V: {network + 0.0:>7.4f})"
    # Only where the search keeps it, so that other lines are lc0's, letter for letter.
    spread = "" if move.variance is None else f" (Var: {move.variance:>7.5f})"
    end = " (T)" if is_end else ""
    selection = f"(Q: {move.q:>8.5f}) (U: {move.u:>6.5f}) (S: {move.score:>8.5f})"
    return f"{moved}{selection} {value}{spread}{end}"


def _root_line(report: RootReport, options: Options) -> str:
    """Return the line of the root, whose Q has the draw score in it as that of its moves."""
    visited = sum(move.prior for move in report.moves if move.visits)
    win, d, loss = report.wdl
    wl = win - loss
    draw_score = options.number("DrawScore")
    if report.state.to_move == 1:
        draw_score = -draw_score
    q = wl + draw_score * d
    value = report.value[0] - report.value[2] + 0.0
    moves = len(report.moves)
    counts = _counts(report.visits, 0, visited)
    figures = f"(WL: {wl:>8.5f}) (D: {d:>5.3f}) (M:  0.0) (Q: {q:>8.5f}) (V: {value:>7.4f})"
    return f"node  ({moves:<4}) {counts}{figures}"
