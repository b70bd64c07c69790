"""A game of your own: a class of positions, registered, checked, and played by search without a network."""

import numpy as np

import hauteur as ht


class Nim:
    """Heaps of stones; a player takes one to three from one heap, and whoever takes the last stone wins."""

    max_plies = 30

    def __init__(self, first: int = 3, second: int = 4, third: int = 5) -> None:
        self.heaps = [first, second, third]
        self.num_actions = 9  # action 3 h + k: take k + 1 stones from heap h
        self.feature_shape = (3, 1, 10)  # a plane a heap
        self.to_move = 0  # 0: the first player, 1: the second

    def legal_actions(self) -> list[int]:
        return [3 * h + k for h, heap in enumerate(self.heaps) for k in range(3) if heap > k]

    def apply(self, action: int) -> None:
        self.heaps[action // 3] -= action % 3 + 1
        self.to_move = 1 - self.to_move

    def outcome(self) -> int | None:  # +1: the first player won, -1: the second, None: it goes on
        return None if any(self.heaps) else (-1, 1)[self.to_move]

    def features(self) -> np.ndarray:  # what a network would see
        return np.array([[np.arange(10) < heap] for heap in self.heaps], np.float32)

    def copy(self) -> "Nim":
        twin = Nim(*self.heaps)
        twin.to_move = self.to_move
        return twin

    # from here on nothing is needed
    def action_to_text(self, action: int) -> str:
        return f"{'abc'[action // 3]}{action % 3 + 1}"

    def text(self) -> str:
        return "\n".join(f"{name} {'o' * heap}" for name, heap in zip("abc", self.heaps, strict=True))


def main() -> None:
    """Check the rules, look at a position, and play a match."""
    ht.register_game("nim", Nim)
    assert ht.check_game("nim", games=5).ok
    game = ht.load_game("nim(first=2, second=3, third=4)")
    print(game.new_initial_state().text())

    solver = ht.Player("rollout", ht.SearchParams(solver={}), visits=200, name="search with solver")
    match = ht.play_match(solver, "mcts:50", game, games=20, random_plies=1, seed=1)
    print(match)
    assert match.score >= 0.5


if __name__ == "__main__":
    main()
