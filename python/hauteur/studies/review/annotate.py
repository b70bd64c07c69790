"""Reviewed games as their files have them, with what the review says of each move: PGN of chess, SGF of Go and others.

What a file says of a game stays: tags and properties, comments, clocks, arrows, variations. What the review says of the
same takes its place: the evaluation of a reviewed move (`[%eval]` in PGN, `SBKV` in SGF), and the glyph of a marked one
(`$1` to `$6`; `BM`, `DO`, `IT`, `TE`). A game that was reviewed before loses the words of that review.

A comment of PGN has the chances after the move as the first player has them, in per cent: `W 41 D 35 L 24`, and
`[%eval]` as Lichess writes it. One of SGF has a line of its own: `hauteur: Black 58.5 % (W 41 D 35 L 24)`; `SBKV` is
what Sabaki draws its graph of, Black's expected score in per cent. A marked move has its name, what the search would
have played, and that line as a variation.
"""

import re
from collections.abc import Iterable, Mapping

import chess
import chess.pgn

from hauteur import _core
from hauteur.games.game_line import result_text
from hauteur.games.pgn import LINE_WIDTH, position_tags, tag_value
from hauteur.games.sgf import result_of, written_sgf
from hauteur.mcts.report import Wdl
from hauteur.mcts.scores import pawns
from hauteur.studies.review.games import ReviewedGame, percent, verdict
from hauteur.studies.review.review import NAGS, Mark, MoveReport, expected_score

OWN = "hauteur"
"""Begins the name of our reviews among annotators."""

JUDGEMENTS: dict[Mark, str] = {"": "", "inaccuracy": "DO[]", "mistake": "BM[1]", "blunder": "BM[2]"}
"""The marks as properties of SGF: doubtful, bad, very bad."""

_EVAL = re.compile(r"\[%eval [^\]]*\]")
_OWN_WORDS = re.compile(r"W \d+ D \d+ L \d+( \((Inaccuracy|Mistake|Blunder): [^()]*\))?\s*$")
_TAG_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+#=:-]*")
_JUDGING = frozenset(range(1, 7))
"""Glyphs that judge a move: ! ? !! ?? !? ?!"""


def annotated_games(games: Iterable[ReviewedGame], annotator: str) -> str:
    """Return games of one kind as PGN or SGF, annotated as far as they are reviewed.

    ValueError for a game of which neither is written.
    """
    games = list(games)
    form = games[0].start.game.record_form if games else None
    if form == "pgn":
        return "\n\n".join(_pgn(game, annotator) for game in games) + "\n"
    if form == "sgf":
        return "\n".join(_sgf(game, annotator).strip() for game in games) + "\n"
    name = games[0].start.game.name if games else "no game"
    raise ValueError(f"games of {name} have no annotated form: save the review as .html or .json")


# PGN.


def _pgn(game: ReviewedGame, annotator: str) -> str:
    document = chess.pgn.Game()
    own = position_tags(game.start.game, game.start, is_start_of_game=game.game.origin is None)
    known = game.game.tags
    others = _other_annotators(known.get("Annotator", ""))
    tags = {**known, "Annotator": "; ".join([*others, annotator]), **dict(own)}
    for name, value in tags.items():
        # Programs write tags with other signs, which no reader of PGN need take.
        if _TAG_NAME.fullmatch(name):
            document.headers[name] = tag_value(value)
    outcome = game.game.outcome
    document.headers["Result"] = "*" if outcome is None else result_text(outcome)
    board = chess.Board(game.start.notation(), chess960=any(name == "Variant" for name, _ in own))
    line = _main_line(game, document, board)
    if isinstance(game.game.source, _core.PgnGame):
        _add_source(game.game.source, document, line)
    reports = {report.ply: report for report in game.moves}
    for ply, node in enumerate(document.mainline()):
        report = reports.get(ply)
        if report is not None:
            _annotate(line[ply], node, report, board)
        board.push(node.move)
    return document.accept(chess.pgn.StringExporter(columns=LINE_WIDTH))


def _other_annotators(text: str) -> list[str]:
    """Return the annotators of a tag without our earlier reviews."""
    return [one for one in text.split("; ") if one.strip(" ?") and not one.startswith(OWN)]


def _main_line(game: ReviewedGame, document: chess.pgn.Game, start: chess.Board) -> list[chess.pgn.GameNode]:
    """Add the moves of a game; return their nodes after the one of the start."""
    board = start.copy()
    state = game.start.copy()
    line: list[chess.pgn.GameNode] = [document]
    for action in game.actions:
        move = board.parse_san(state.action_to_text(action, "san"))
        line.append(line[-1].add_main_variation(move))
        board.push(move)
        state.apply(action)
    return line


def _add_source(source: _core.PgnGame, document: chess.pgn.Game, line: list[chess.pgn.GameNode]) -> None:
    """Add the comments, glyphs and variations that a file has to the main line of its game."""
    main = set(map(id, line))
    placed: list[chess.pgn.GameNode] = []
    for parent, uci, _, before, comment, nags in source.tree():
        if parent < 0:
            document.comment = comment
            placed.append(document)
            continue
        move = chess.Move.from_uci(uci)
        above = placed[parent]
        node = above.variation(move) if above.has_variation(move) else above.add_variation(move)
        placed.append(node)
        if id(node) in main:
            # A comment before a move of the main line has no place of its own in PGN.
            node.comment = _joined(before, comment)
        else:
            node.starting_comment = before
            node.comment = comment
        node.nags.update(nags)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _evaluation(report: MoveReport) -> str:
    """Return what Lichess writes after `%eval`: pawns as White has them, or `#-2` where Black mates in two."""
    if report.wins_in is not None:
        return f"#{report.wins_in if report.mover == 0 else -report.wins_in}"
    after = report.first_player(report.after)
    # A minus zero would be written with its sign.
    return f"{pawns(after[0] - after[2]) + 0.0:.2f}"


def _annotate(before: chess.pgn.GameNode, node: chess.pgn.ChildNode, report: MoveReport, board: chess.Board) -> None:
    """Add comment and glyph to a move, and to a marked one the better line; board: before the move."""
    after = report.first_player(report.after)
    kept = _EVAL.sub("", node.comment)
    earlier = _OWN_WORDS.search(kept)
    if earlier is not None and earlier[1]:
        node.nags -= _JUDGING
    words = [f"[%eval {_evaluation(report)}]", " ".join(_OWN_WORDS.sub("", kept).split()), percent(after)]
    glyph = NAGS[report.mark]
    if glyph is not None:
        node.nags -= _JUDGING
        node.nags.add(glyph)
        words.append(f"({verdict(report)})")
        _add_better_line(before, report, board)
    node.comment = _joined(*words)


def _add_better_line(before: chess.pgn.GameNode, report: MoveReport, board: chess.Board) -> None:
    """Add the better line in place of a move, into a variation that begins with the same moves where there is one."""
    place = board.copy()
    other = before
    for text in report.line:
        move = place.parse_san(text)
        other = other.variation(move) if other.has_variation(move) else other.add_variation(move)
        place.push(move)
        if other.parent is before:
            best = report.first_player(report.before)
            other.comment = _joined(_OWN_WORDS.sub("", other.comment).strip(), percent(best))


# SGF.


def _sgf(game: ReviewedGame, annotator: str) -> str:
    source = game.game.source
    text = source if isinstance(source, str) else _plain_sgf(game)
    first = game.start.game.sides[0]
    notes = {report.ply: _note(report, first) for report in game.moves}
    before = game.moves[0] if game.moves and game.moves[0].ply == 0 else None
    begins = None if before is None else _per_cent(before.first_player(before.before))
    return _core.annotated_sgf(text, game.start.game, annotator, begins, notes)


def _plain_sgf(game: ReviewedGame) -> str:
    """Return a game of a file without SGF: its moves, and how it ended."""
    outcome = game.game.outcome
    root: Mapping[str, str] = {} if outcome is None else {"RE": result_of(outcome, game.game.end_reason)}
    return written_sgf(game.start.game, root, game.actions, {})


def _note(report: MoveReport, first: str) -> tuple[str, str, float, list[int], str]:
    """Return comment, judgement, chances, better line and its comment of a move, as the core writes them."""
    after = report.first_player(report.after)
    words = ". ".join(part for part in (_chances_text(first, after), verdict(report)) if part)
    if not report.mark:
        return words, "", _per_cent(after), [], ""
    better = _chances_text(first, report.first_player(report.before))
    return words, JUDGEMENTS[report.mark], _per_cent(after), list(report.line_actions), better


def _chances_text(first: str, wdl: Wdl) -> str:
    return f"{first} {_per_cent(wdl):.1f} % ({percent(wdl)})"


def _per_cent(wdl: Wdl) -> float:
    return 100.0 * expected_score(wdl)
