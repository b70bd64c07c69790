"""The widget for games: its data is what was played, nothing in it is markup, and its size is bounded."""

import json
import re

import pytest
from report_toys import Structure

from hauteur import _core
from hauteur.games.walks import MoveNote, WalkNotes, drawing_of, walk_of
from hauteur.plots import boards
from hauteur.plots.page import page, table_html

pytestmark = pytest.mark.quick


def random_walk(spec: str, plies: int, title: str = "a game") -> dict[str, object]:
    """A game of first legal moves."""
    state = _core.Game(spec).new_initial_state()
    start = state.copy()
    actions = list[int]()
    while state.outcome() is None and len(actions) < plies:
        actions.append(int(state.legal_actions()[len(actions) % len(state.legal_actions())]))
        state.apply(actions[-1])
    notes = WalkNotes({0: (0.5, 0.25, 0.25)}, {0: actions[0]}, {0: MoveNote("<b>good</b>", "mistake", "?")})
    return walk_of(start, actions, title=title, notes=notes)


@pytest.mark.parametrize("spec", ["chess", "minichess", "connect4", "tictactoe", "nogo(size=5)"])
def test_the_data_of_a_game_has_every_position(spec: str) -> None:
    """One entry a position, one a move, and squares on the board."""
    walk = random_walk(spec, 12)
    drawing = drawing_of(_core.Game(spec).new_initial_state())
    assert drawing is not None
    moves = walk["moves"]
    cells = walk["cells"]
    assert isinstance(moves, list)
    assert isinstance(cells, list)
    assert len(cells) == len(moves) + 1 == len(walk["wdl"]) == len(walk["last"]) == len(walk["best"])  # type: ignore[arg-type]
    assert {sign for text in cells for sign in text} <= {*drawing["ids"], *".0123456789"}
    assert moves[0].endswith("?")
    text = boards.walks_html(drawing, [walk])
    (data,) = Structure(text).data
    assert json.loads(data)["games"] == [json.loads(json.dumps(walk))]
    assert set(re.findall(r'<g id="([^"]+)"', text)) >= set(drawing["ids"].values())


def test_titles_and_notes_are_never_markup() -> None:
    """A title that closes the script stays text."""
    walk = random_walk("tictactoe", 3, title="</script><script>alert(1)</script>")
    text = page("<i>title</i>", [boards.walks_html(drawing_of(_core.Game("tictactoe").new_initial_state()), [walk])])
    parsed = Structure(text)
    assert "alert(1)</script>" not in text
    assert parsed.data
    assert json.loads(parsed.data[0])["games"][0]["notes"][0] == "<b>good</b>"
    assert "&lt;i&gt;" in text
    assert "<b>" not in table_html(["a", "b"], [["<b>", "<b>"]])


def test_a_page_asks_for_nothing_from_elsewhere() -> None:
    """All addresses are inside the page."""
    state = _core.Game("chess").new_initial_state()
    text = page("title", [boards.walks_html(drawing_of(state), [random_walk("chess", 5)])])
    assert all(address.startswith("#") for address in Structure(text).addresses)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "prefers-color-scheme: dark" in text
    assert "innerHTML" not in boards.script()


def test_games_beyond_the_bound_are_left_out_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first game is always there."""
    monkeypatch.setattr(boards, "MOST_BYTES", 3000)
    walks = [random_walk("connect4", 20, title=f"game {number}") for number in range(5)]
    text = boards.walks_html(drawing_of(_core.Game("connect4").new_initial_state()), walks)
    shown = len(json.loads(Structure(text).data[0])["games"])
    assert 1 <= shown < 5
    assert f"{5 - shown} more games are not on this page" in text
    assert boards.walks_html(None, []) == "<p>No games yet.</p>"


def test_a_widget_may_begin_without_games() -> None:
    """It is hidden then, and has the board for games that a script gives it; no style that a server may forbid."""
    text = boards.empty_walks_html(drawing_of(_core.Game("connect4").new_initial_state()))
    data = json.loads(Structure(text).data[0])
    assert text.startswith('<div class="walks" hidden>')
    assert data["games"] == []
    assert data["board"]["columns"] == 7
    assert "style=" not in text


def test_a_game_without_a_board_of_cells_is_shown_as_text() -> None:
    """Its positions are their text."""
    from hauteur.games.registry import load_game

    start = load_game("tutorial").new_initial_state()
    walk = walk_of(start, [0, 4], title="misere")
    text = boards.walks_html(drawing_of(start), [walk])
    assert drawing_of(start) is None
    assert "<pre></pre>" in text
    assert walk["cells"][0] == start.text()
    assert walk["cells"][-1].count("X") == 1
