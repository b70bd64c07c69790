"""AlphaZero in a page: self-play, training and a gate in a loop, on the public interface alone.

Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play".
`hauteur train` and `ht.learn` do the same with resumable runs, reports and all settings.
"""

import hauteur as ht

GAME = ht.load_game("tictactoe")
GENERATIONS = 4
VISITS = 25


def player(evaluator: object, name: str) -> ht.Player:
    """A network with search, as it plays in self-play and gate."""
    return ht.Player(evaluator, visits=VISITS, name=name)


def better(candidate: object, best: object, generation: int) -> bool:
    """The gate: the candidate scores 52 % or more against the best net so far."""
    match = ht.play_match(
        player(candidate, "candidate"), player(best, "best"), GAME, games=20, random_plies=3, seed=generation
    )
    print(f"  gate {match.wins}-{match.draws}-{match.losses}")
    return match.score >= 0.52


def main() -> None:
    """Learn tic-tac-toe from nothing, and show how far it came."""
    trainer = ht.Trainer(
        GAME,
        ht.ResNet(filters=16, blocks=2, policy_channels=4, value_channels=4, value_hidden=32),
        ht.TrainSettings(batch_size=128, learning_rate=5e-3, root_value_share=0.25),
        seed=1,
    )
    buffer = ht.ReplayBuffer(GAME, window=400)
    best = trainer.evaluator()
    for generation in range(1, GENERATIONS + 1):
        buffer.add(ht.self_play(GAME, player(best, "best"), games=60, seed=generation))
        facts = trainer.fit(buffer, steps=40, progress=((generation - 1) / GENERATIONS, generation / GENERATIONS))
        print(f"generation {generation}: {buffer.positions} positions, policy loss {facts.policy_loss:.3f}")
        candidate = trainer.evaluator()
        if better(candidate, best, generation):
            best = candidate

    match = ht.play_match(player(best, "learned"), "random", GAME, games=20, random_plies=0, seed=1)
    print(match)
    assert match.score > 0.6, "a few generations beat random moves"


if __name__ == "__main__":
    main()
