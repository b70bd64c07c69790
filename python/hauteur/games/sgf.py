"""Games on the points of a board as SGF (FF[4]): main lines are read, variations and comments are passed over."""

import re
from collections.abc import Iterator, Mapping, Sequence

from hauteur import _core
from hauteur.games.game_line import RECORDED, RESIGNATION, TIME, BadGame, TaggedGame

KINDS = {"nogo": "1", "go": "1", "gomoku": "4"}
"""GM, the number of each game in the format. NoGo has none of its own: it is written as Go without a komi."""

DEFAULT_KOMI = "7.5"
"""Komi of a game of Go whose spec has none."""

PASSES = ("", "tt")
"""Values of a move that is a pass, on boards up to 19x19."""

MAX_DEPTH = 1000
"""Most variations within variations."""

REASONS = {"R": RESIGNATION, "RESIGN": RESIGNATION, "T": TIME, "TIME": TIME, "F": "forfeit", "FORFEIT": "forfeit"}

SETUP = ("AB", "AW", "AE", "PL", "HA")
"""Properties that change the position or whose turn it is; HA[0] says nothing."""

_PROPERTY = re.compile(r"([A-Z]+)((?:\s*+\[(?:\\.|[^\\\]])*+\])++)", re.DOTALL)
_VALUE = re.compile(r"\[((?:\\.|[^\\\]])*+)\]", re.DOTALL)

Properties = dict[str, list[str]]
"""Values by name, of one node."""


def spec_of_sgf_text(text: str) -> str:
    """Return the spec of a text's first game. Raise ValueError where it has no size, and for other games."""
    if (begins := text.find("(")) < 0:
        raise ValueError("no SGF: it has no (")
    nodes, _ = _game_tree(text, begins)
    if not nodes:
        raise ValueError("has no nodes")
    root = nodes[0]
    columns, rows = _size(root.get("SZ", ["19"])[0].strip())
    komi = root.get("KM", [""])[0].strip()
    if _kind(root) == KINDS["gomoku"]:
        return f"gomoku(size={rows})"
    if _kind(root) != KINDS["go"]:
        raise ValueError(f"is of the game GM[{_kind(root)}], expected GM[1] (Go, NoGo) or GM[4] (Gomoku)")
    if komi:
        return f"go(size={rows}, komi={komi})"
    return f"nogo(size={rows})" if rows == columns else f"nogo(rows={rows}, cols={columns})"


def sgf_games(text: str, name: str, game: _core.Game) -> Iterator[TaggedGame | BadGame]:
    """Yield the games of a text of this name in order, each as its main line or with what is wrong with it."""
    if game.name not in KINDS:
        raise ValueError(f"{name}: SGF is read for {', '.join(KINDS)}, not for {game.spec}")
    position, number = 0, 0
    while (begins := text.find("(", position)) >= 0:
        number += 1
        where = f"{name}, game {number}"
        try:
            nodes, position = _game_tree(text, begins)
        except ValueError as error:
            yield BadGame(where, f"{error}; the file is not read further")
            return
        try:
            yield _line(game, nodes)
        except ValueError as error:
            yield BadGame(where, str(error))
    if number == 0:
        yield BadGame(name, "no SGF: it has no (")


def _game_tree(text: str, begins: int) -> tuple[list[Properties], int]:
    """The nodes of the main line of the tree that begins here, and where the tree ends."""
    nodes: list[Properties] = []
    depth, at, in_main_line = 0, begins, True
    while at < len(text):
        sign = text[at]
        if sign == "(":
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError(f"has more than {MAX_DEPTH} variations within variations")
        elif sign == ")":
            depth, in_main_line = depth - 1, False
            if depth == 0:
                return nodes, at + 1
        elif sign == ";" and in_main_line:
            nodes.append({})
        elif not sign.isspace() and sign != ";":
            at = _property(text, at, nodes if in_main_line else None)
            continue
        at += 1
    raise ValueError("its tree is not closed: a ) is missing")


def _property(text: str, at: int, nodes: list[Properties] | None) -> int:
    """Read a property into the last node (of the main line); where it ends."""
    match = _PROPERTY.match(text, at)
    if match is None:
        line = text.count("\n", 0, at) + 1
        raise ValueError(f"line {line}: expected a property, such as B[aa], got {text[at : at + 20]!r}")
    if nodes is not None:
        if not nodes:
            raise ValueError("has a property before the first ;")
        if match[1] in nodes[-1]:
            raise ValueError(f"has {match[1]} twice in one node")
        nodes[-1][match[1]] = _VALUE.findall(match[2])
    return match.end()


def _line(game: _core.Game, nodes: list[Properties]) -> TaggedGame:
    """Return the game of these nodes; raise ValueError naming what is wrong with it."""
    if not nodes:
        raise ValueError("has no nodes")
    root = nodes[0]
    _check_root(game, root)
    outcome, reason = _result(root)
    state = game.new_initial_state()
    actions: list[int] = []
    for node in nodes:
        for colour, value in _moves(node):
            if "BW"[state.to_move] != colour or state.outcome() is not None:
                raise ValueError(f"move {len(actions) + 1}: it is not the turn of {colour}")
            actions.append(_action(game, value, len(actions) + 1))
            state.apply(actions[-1])
    ended = state.end_reason() if state.outcome() is not None else None
    tags = {name: re.sub(r"\\(.)", r"\1", values[0], flags=re.DOTALL) for name, values in root.items()}
    return TaggedGame(tuple(actions), tags, outcome, ended or reason)


def _check_root(game: _core.Game, root: Properties) -> None:
    """Raise ValueError unless the game is of this kind, on a board of this size and with this komi."""
    kind, komi = KINDS[game.name], root.get("KM", [""])[0].strip()
    if _kind(root) != kind:
        raise ValueError(f"is of the game GM[{_kind(root)}], expected GM[{kind}]")
    if game.name == "go" and komi and not _is_number(komi, _komi(game)):
        raise ValueError(f"has a komi of KM[{komi[:20]}], expected KM[{_komi(game)}]")
    _, rows, columns = game.feature_shape
    size = root.get("SZ", ["19"])[0].strip()
    if _size(size) != (columns, rows):
        raise ValueError(f"is on a board SZ[{size}], expected SZ[{_size_text(rows, columns)}]")


def _kind(root: Properties) -> str:
    return root.get("GM", ["1"])[0].strip()


def _komi(game: _core.Game) -> str:
    found = re.search(r"komi=([-0-9.]+)", game.spec)
    return DEFAULT_KOMI if found is None else found[1]


def _is_number(text: str, number: str) -> bool:
    try:
        return float(text) == float(number)
    except ValueError:
        return False


def _size(text: str) -> tuple[int, int]:
    """Columns and rows that SZ names."""
    match = re.fullmatch(r"([0-9]{1,2})(?::([0-9]{1,2}))?", text)
    if match is None:
        raise ValueError(f"is on a board SZ[{text[:20]}], expected a size such as SZ[9] or SZ[4:3]")
    return int(match[1]), int(match[2] or match[1])


def _size_text(rows: int, columns: int) -> str:
    """Return the value of SZ of a board, columns before rows."""
    return str(rows) if rows == columns else f"{columns}:{rows}"


def _moves(node: Properties) -> Iterator[tuple[str, str]]:
    """Colour and value of the move of a node, if it has one."""
    for name in SETUP:
        if node.get(name, ["0"]) != ["0"]:
            raise ValueError(f"sets up a position ({name}), only games from the empty board can be read")
    for colour in "BW":
        values = node.get(colour, [])
        if len(values) > 1:
            raise ValueError(f"has two moves in one {colour}")
        yield from ((colour, value.strip()) for value in values)


def _action(game: _core.Game, value: str, number: int) -> int:
    """The action of a move: a letter for the column, one for the row from the top."""
    _, rows, columns = game.feature_shape
    passes = game.num_actions > rows * columns
    if passes and value in PASSES:
        return rows * columns
    column, row = (ord(letter) - ord("a") for letter in value) if len(value) == 2 else (-1, -1)
    if not (0 <= column < columns and 0 <= row < rows):
        why = "" if passes else f" ({game.name} has no pass)"
        raise ValueError(f"move {number}: {value!r} is no point of the board{why}")
    return row * columns + column


def _result(root: Properties) -> tuple[int | None, str]:
    """Outcome and reason by RE; None where there is no winner."""
    text = root.get("RE", [""])[0].strip()
    match = re.fullmatch(r"([BW])\+(.*)", text, re.IGNORECASE)
    if match is None:
        return None, RECORDED
    return 1 if match[1].upper() == "B" else -1, REASONS.get(match[2].strip().upper(), RECORDED)


def result_of(outcome: int, end_reason: str) -> str:
    """The value of RE."""
    if outcome == 0:
        return "0"
    letter = {RESIGNATION: "R", TIME: "T", "forfeit": "F"}.get(end_reason, "")
    return f"{'B' if outcome > 0 else 'W'}+{letter}"


def written_sgf(game: _core.Game, root: Mapping[str, str], actions: Sequence[int], comments: Mapping[int, str]) -> str:
    """A game as SGF text. root: properties of the first node beside those of the format; comments: by ply."""
    _, rows, columns = game.feature_shape
    form = {"FF": "4", "GM": KINDS[game.name], "CA": "UTF-8", "AP": "hauteur", "SZ": _size_text(rows, columns)}
    form |= {"KM": _komi(game)} if game.name == "go" else {}
    nodes = [";" + "".join(f"{name}[{_escaped(value)}]" for name, value in {**form, **root}.items())]
    for ply, action in enumerate(actions):
        row, column = divmod(action, columns)
        comment = f"C[{_escaped(comments[ply])}]" if comments.get(ply) else ""
        point = "" if action == rows * columns else f"{chr(97 + column)}{chr(97 + row)}"
        nodes.append(f";{'BW'[ply % 2]}[{point}]{comment}")
    lines = ["".join(nodes[first : first + 10]) for first in range(0, len(nodes), 10)]
    return "(" + "\n".join(lines) + ")\n"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("]", "\\]")
