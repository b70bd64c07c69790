"""Training batches from lc0's training chunks, with the interface of the replay buffer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.learning.game_files.lc0_chunks import ChunkPositions, read_chunk
from hauteur.learning.replay import Samples


class ChunkBuffer:
    """The positions of chunks, and training batches of them."""

    def __init__(self, game: _core.Game, content: ChunkPositions | None = None) -> None:
        if game.name != "chess":
            raise ValueError(f"training chunks of lc0 are for chess, the game is {game.spec}")
        self.game = game
        self.content = content
        self.skipped: list[str] = []

    def extend(self, paths: Iterable[Path]) -> int:
        """Add the positions of these chunks, in order; how many. Files that are no whole chunk are in `skipped`."""
        parts = []
        for path in paths:
            try:
                parts.append(ChunkPositions.of_records(read_chunk(path)))
            except ValueError as error:
                self.skipped.append(str(error))
        if parts:
            before = [self.content] if self.content is not None else []
            self.content = ChunkPositions.join([*before, *parts])
        return sum(map(len, parts))

    @property
    def positions(self) -> int:
        """Number of positions."""
        return len(self.content) if self.content is not None else 0

    def sample(
        self,
        random: np.random.Generator,
        rows: int,
        *,
        root_value_share: float = 0.0,
        symmetries: bool = True,  # noqa: ARG002
    ) -> Samples:
        """Draws positions uniformly. Chess has no symmetries, so `symmetries` changes nothing."""
        if self.positions == 0:
            raise ValueError("the chunks hold no positions")
        return self.samples_of(random.integers(self.positions, size=rows), root_value_share=root_value_share)

    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float = 0.0) -> Samples:
        """Features and targets of these positions (numbers 0 to positions - 1); wdl as in ReplayBuffer.samples_of."""
        if self.content is None:
            raise ValueError("the chunks hold no positions")
        content = self.content
        wdl = (1 - root_value_share) * content.wdl[positions] + root_value_share * content.root_wdl[positions]
        features, policy = content.features(positions), content.policy(positions)
        return Samples(features, policy, wdl.astype(np.float32), content.legal(positions))
