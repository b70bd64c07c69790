"""An evaluator of one's own, a function of numpy arrays, plays Connect Four against built-in players.

An evaluator takes features, float32 [B, C, H, W], and returns policy logits [B, A] and probabilities of win, draw and
loss of the player to move [B, 3]. Here it counts the lines of four that each side can still complete.
"""

import numpy as np

import hauteur as ht

ROWS, COLUMNS = 6, 7
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))
LINES = np.array(
    [
        [(row + k * down) * COLUMNS + column + k * right for k in range(4)]
        for down, right in STEPS
        for row in range(ROWS - 3 * down)
        for column in range(COLUMNS)
        if 0 <= column + 3 * right < COLUMNS
    ]
)  # [69, 4]: the points of each line
WORTH = np.array([0.0, 0.02, 0.1, 0.5, 0.0])  # of a line with 0 to 4 stones of one side and none of the other
CENTRE = np.array([0.0, 0.5, 1.0, 1.5, 1.0, 0.5, 0.0], np.float32)


def lines(features):
    """Policy: towards the centre. Value: open lines of the mover against those of the other."""
    own, other = (features[:, plane].reshape(-1, ROWS * COLUMNS)[:, LINES].sum(axis=2).astype(int) for plane in (0, 1))
    balance = (WORTH[own] * (other == 0) - WORTH[other] * (own == 0)).sum(axis=1)
    q = np.tanh(balance)
    wdl = np.stack([(1 + q) / 2, np.zeros_like(q), (1 - q) / 2], axis=1)
    return np.tile(CENTRE, (len(features), 1)), wdl.astype(np.float32)


def main():
    player = ht.Player(lines, visits=100, name="lines")
    ratings = ht.tournament([player, "net=uniform visits=100 name=uniform", "mcts:300", "random"], "connect4", games=20)
    print(ratings)
    print(ratings.crosstable())


if __name__ == "__main__":
    main()
