"""A match with its statistics: error bars, who moved first, how games ended, and a sequential test.

The net that ships for Connect Four plays random games' search (UCT), two games from each opening with sides swapped.
"""

from collections import Counter

import hauteur as ht


def main():
    match = ht.play_match("visits=20 name=net", "mcts:200", "connect4", games=30, seed=1)
    low, high = match.elo_interval
    print(f"{match.names[0]} against {match.names[1]}: +{match.wins} ={match.draws} -{match.losses}")
    print(f"score {match.score:.1%}, Elo {match.elo:+.0f} [{low:+.0f}, {high:+.0f}] (95 %), LOS {match.los:.1%}")

    for side in ("first", "second"):
        games = [game for game in match.games if game.a == side]
        print(f"moving {side}: {sum(game.score for game in games):g} of {len(games)}")
    ends = Counter(game.end for game in match.games)
    print("ends:", ", ".join(f"{end} {count}" for end, count in ends.most_common()))
    longest = max(match.games, key=lambda game: game.plies)
    print(f"longest game: {longest.plies} plies, {longest.opening} | {longest.moves}")

    # Is 20 visits instead of 10 worth 100 Elo, or nothing? The test decides when the games are enough.
    test = ht.sprt("visits=20 name=20", "visits=10 name=10", "connect4", elo0=0, elo1=100, max_games=40, seed=2)
    print(f"sequential test: {test.verdict or 'undecided'} after {len(test.games)} games, LLR {test.llr:+.2f}")


if __name__ == "__main__":
    main()
