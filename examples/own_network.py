"""A network of your own with its own target: registered, trained for a moment, saved, loaded, sent into a match."""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn
from torch.nn import functional

import hauteur as ht


def plies_left(record: ht.GameRecord) -> dict[str, Tensor]:
    """Return what the n moves of a game are taught beside policy and value, [n, 1]: tens of plies until its end."""
    return {"plies_left": torch.arange(len(record.actions), 0, -1)[:, None] / 10}


@ht.register_network("transformer", targets=plies_left, losses={"plies_left": functional.mse_loss})
class Transformer(nn.Module):
    """One token a square; built with a game and settings. `hauteur --import FILE.py` makes it known to commands."""

    def __init__(self, game: ht.Game, width: int = 32, layers: int = 2) -> None:
        super().__init__()
        planes, rows, columns = game.feature_shape
        self.embed = nn.Linear(planes, width)
        self.place = nn.Parameter(0.1 * torch.randn(rows * columns, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.policy = nn.Linear(width * rows * columns, game.num_actions)
        self.value = nn.Linear(width, 3)
        self.left = nn.Linear(width, 1)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        x = self.body(self.embed(features.flatten(2).transpose(1, 2)) + self.place)  # [B, squares, width]
        policy, mean = self.policy(x.flatten(1)), x.mean(dim=1)  # logits [B, A]
        return policy, self.value(mean), {"plies_left": self.left(mean)}  # play ignores the last


def main() -> None:
    """Learn tic-tac-toe from games of plain search, then play the network that ships."""
    game = ht.load_game("tictactoe")
    buffer = ht.ReplayBuffer(game, targets=plies_left)
    buffer.add(ht.self_play(game, ht.Player("rollout", visits=100), games=80, seed=1))

    trainer = ht.Trainer(game, Transformer, ht.TrainSettings(batch_size=128, learning_rate=3e-3), seed=1)
    facts = trainer.fit(buffer, steps=120)
    print(f"mean losses: policy {facts.policy_loss:.2f}, value {facts.value_loss:.2f}, {facts.extra}")

    with TemporaryDirectory() as folder:
        path = Path(folder) / "own.safetensors"
        trainer.save(path)
        net = ht.load_network(path)
        print(f"{net.architecture.summary()}: {net.parameters:,} weights")

        own = ht.Player(net.module, visits=50, name="transformer")
        shipped = ht.Player("tictactoe", visits=50, name="the net that ships")
        print(ht.play_match(own, shipped, game, games=10, seed=1))


if __name__ == "__main__":
    main()
