"""A PGN as a tree: variations, comments and glyphs keep their places; what cannot be read is named."""

import pytest

from hauteur.games.game_tree import GameNode, GameTree, read_game_tree

TEXT = """[Event "x"]
[White "Ann"]
[Result "1-0"]

{before the game} 1. e4! {best by test} (1. d4 $6 {closed} d5 (1... Nf6 2. c4) 2. c4) ({a line} 1. c4) 1... e5 ± 2. Nf3
{[%clk 0:01:00] quick} Nc6 (2... d6?! 3. d4) 3. Bb5 1-0
"""


def outline(nodes: list[GameNode]) -> list[object]:
    """Return the moves of a tree as nested lists: of each move its SAN, its replies after it."""
    return [[node.san, *outline(node.children)] for node in nodes]


@pytest.fixture(scope="module")
def tree() -> GameTree:
    return read_game_tree(TEXT)


def test_variations_stand_beside_the_moves_that_they_replace(tree: GameTree) -> None:
    assert outline(tree.children) == [
        ["e4", ["e5", ["Nf3", ["Nc6", ["Bb5"]], ["d6", ["d4"]]]]],
        ["d4", ["d5", ["c4"]], ["Nf6", ["c4"]]],
        ["c4"],
    ]
    assert [node.move for node in tree.main_line()] == ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]


def test_comments_glyphs_and_headers_are_kept(tree: GameTree) -> None:
    assert tree.headers == {"Event": "x", "White": "Ann", "Result": "1-0"}
    assert (tree.start, tree.result, tree.comment, tree.notes) == ("startpos", "1-0", "before the game", ())
    first, closed, english = tree.children
    assert (first.nags, first.comment) == ((1,), "best by test")
    assert (closed.nags, closed.comment, english.before) == ((6,), "closed", "a line")
    reply = first.children[0]
    assert reply.nags == (16,)
    assert reply.children[0].comment == "[%clk 0:01:00] quick"
    assert reply.children[0].children[1].nags == (6,)


def test_a_tree_begins_where_its_tags_say() -> None:
    fen = "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1"
    tree = read_game_tree(f'[FEN "{fen}"]\n\n1. b3 c5 2. Nf3 d5 3. d4 b6 4. O-O *')
    assert (tree.start, tree.game.spec) == (fen, f"chess(fen={fen}, chess960=true)")
    assert [node.move for node in tree.main_line()][-1] == "f1g1"


def test_a_variation_that_cannot_be_read_ends_with_a_note() -> None:
    tree = read_game_tree("1. e4 e5 (1... c5 2. Qxf7 Nc6) (1... d5 2. -- dxe4) 2. Nf3 *")
    assert outline(tree.children) == [["e4", ["e5", ["Nf3"]], ["c5"], ["d5"]]]
    assert len(tree.notes) == 2
    assert "Qxf7" in tree.notes[0]
    assert "null move" in tree.notes[1]


def test_languages_hold_in_variations_too() -> None:
    tree = read_game_tree("1. Sf3 Sf6 (1... Sc6 2. e4) 2. Sc3 *")
    assert outline(tree.children) == [["Nf3", ["Nf6", ["Nc3"]], ["Nc6", ["e4"]]]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1. e4 e4", '"e4" is not a legal move'),
        ("1. e4 (1. d4", "a variation is not closed"),
        ("1. e4 {and so on", "a comment is not closed"),
        ("", "has no game"),
        ("e" * (2**20 + 1), "characters"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as error:
        read_game_tree(text)
    assert "\n" not in str(error.value)
