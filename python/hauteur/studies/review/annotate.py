"""Reviewed games of chess as PGN with glyphs, comments and variations.

A comment has the chances after the move as the first player has them, in per cent: `W 41 D 35 L 24`, and `[%eval]` as
Lichess writes it. A marked move has its name, what the search would have played, and that line as a
variation.
"""

from __future__ import annotations

from collections.abc import Iterable

import chess
import chess.pgn

from hauteur.games.game_line import result_text
from hauteur.games.pgn import LINE_WIDTH, position_tags, tag_value
from hauteur.mcts.report import Wdl
from hauteur.mcts.scores import pawns
from hauteur.studies.review.games import ReviewedGame
from hauteur.studies.review.judgement import NAGS, expected_score
from hauteur.studies.review.review import MoveReport


def percent(wdl: Wdl) -> str:
    """Return `W 41 D 35 L 24`."""
    return " ".join(f"{name} {100 * share:.0f}" for name, share in zip("WDL", wdl, strict=True))


def verdict(move: MoveReport) -> str:
    """Return a marked move's name, its worth before and after, what was better, how far it was punished; else empty."""
    if not move.mark:
        return ""
    before, after = (f"{100 * expected_score(wdl):.0f}" for wdl in (move.before, move.after))
    kept = "" if move.punished is None else f"; {100 * move.punished:.0f} % punished"
    fell = f"the mover's expected score fell from {before} to {after} %"
    return f"{move.mark.capitalize()}: {fell}; best was {move.best}{kept}"


def annotated_pgn(games: Iterable[ReviewedGame], annotator: str) -> str:
    """Return games of chess as PGN, annotated as far as they are reviewed."""
    return "\n\n".join(_pgn(game, annotator) for game in games) + "\n"


def _pgn(game: ReviewedGame, annotator: str) -> str:
    document = chess.pgn.Game()
    own = position_tags(game.start.game, game.start, is_start_of_game=game.game.origin is None)
    tags = {**game.game.tags, "Annotator": annotator, **dict(own)}
    for name, value in tags.items():
        document.headers[name] = tag_value(value)
    chess960 = any(name == "Variant" for name, _ in own)
    board = chess.Board(game.start.notation(), chess960=chess960)
    node: chess.pgn.GameNode = document
    state, reports = game.start.copy(), {report.ply: report for report in game.moves}
    for ply, action in enumerate(game.actions):
        report = reports.get(ply)
        san = state.action_to_text(action, "san")
        before, node = node, node.add_main_variation(board.parse_san(san))
        if report is not None:
            _annotate(before, node, report, board)
        board.push(node.move)
        state.apply(action)
    document.headers["Result"] = "*" if game.game.outcome is None else result_text(game.game.outcome)
    return document.accept(chess.pgn.StringExporter(columns=LINE_WIDTH))


def _annotate(before: chess.pgn.GameNode, node: chess.pgn.GameNode, report: MoveReport, board: chess.Board) -> None:
    """Add comment and glyph to a move, and to a marked one the better line; board: before the move."""
    after = report.first_player(report.after)
    words = [f"[%eval {pawns(after[0] - after[2]) + 0.0:.2f}]", percent(after)]
    glyph = NAGS[report.mark]
    if glyph is not None and isinstance(node, chess.pgn.ChildNode):
        node.nags.add(glyph)
        words.append(f"({verdict(report)})")
        place, other = board.copy(), before
        for text in report.line:
            other = other.add_variation(place.parse_san(text))
            place.push(other.move)
            if other.parent is before:
                best = report.first_player(report.before)
                other.comment = percent(best)
    node.comment = " ".join(words)
