"""hauteur bench learning: the time that a training run took to reach goals, as rows of the leaderboard."""

from pathlib import Path


def learning(run: Path, *, visits: int = 200) -> None:
    """Measure the nets of a training run against exact play; print when each goal was reached.

    Goals: in tic-tac-toe no loss against any reply, in Connect Four 90, 95 and 99 % of value-preserving moves. The
    times are those of the run, recorded while it learned; the strength is measured now.

    Parameters
    ----------
    run
        Folder of a run of tictactoe or connect4.
    visits
        Visits a move.
    """
    from hauteur.learning.run_folder import RunFolder
    from hauteur.studies.time_to_result import LEADERBOARD_HEAD, leaderboard_rows, measured_nets

    if visits < 1:
        raise ValueError(f"--visits must be >= 1, got {visits}")
    folder = RunFolder(run)
    nets = []
    for net in measured_nets(folder, visits):
        nets.append(net)
        minutes = f"{net.cpu_seconds / 60:.1f} CPU minutes"
        print(f"generation {net.generation}: {net.level:.1%}, {net.games:,} games, {minutes}", flush=True)
    if not nets:
        raise ValueError(f"{run}: the run has no finished generation")
    print(LEADERBOARD_HEAD)
    print("\n".join(leaderboard_rows(folder, nets, visits)))
