"""Learning for programs in Python: a run in one call, watched and read afterwards; games of a player against itself."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from hauteur import _core
from hauteur.cluster.open import open_scheduler
from hauteur.cluster.options import WorkerOptions
from hauteur.games.registry import load_game
from hauteur.learning import loop
from hauteur.learning.display import Display, GenerationRow, row_of
from hauteur.learning.recipe import Recipe, changed_recipe, load_recipe
from hauteur.learning.run_folder import RunFolder, no_run
from hauteur.learning.shipped_recipes import recipe_file
from hauteur.matches.arena import GameRules, Layout, play_games
from hauteur.matches.openings import random_opening
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import Dirichlet, Temperature
from hauteur.players.build import Evaluators, Resources, build_player
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur.system.extras import require
from hauteur.system.formatting import described
from hauteur.system.hints import with_hints
from hauteur.system.progress import ProgressLine
from hauteur.system.seeds import stream
from hauteur.system.tables import Rows


@dataclass(frozen=True, init=False, repr=False)
class LearningRun:
    """A run in its folder, as `ht.learn` leaves it; `LearningRun(folder)` opens one that is there.

    Raise ValueError where the folder holds no run.

    >>> import hauteur as ht
    >>> recipe = ht.Recipe(
    ...     game="tictactoe", network=ht.ResNet(filters=8, blocks=1),
    ...     selfplay={"games": 20, "visits": 10}, gate={"games": 4}, run={"generations": 1},
    ... )
    >>> finished = ht.learn(recipe, out="short-run", on_generation=lambda row: None)
    >>> run = ht.LearningRun("short-run")
    >>> run == finished, len(run.metrics), run.recipe.selfplay.visits
    (True, 1, 10)
    """

    folder: Path
    """The folder with config.toml, metrics.jsonl, the games, the nets and report.html."""

    def __init__(self, folder: str | Path) -> None:
        if not isinstance(folder, str | Path):
            raise TypeError(f"the folder of a run is given by its path, got {described(folder)}")
        object.__setattr__(self, "folder", Path(folder))
        if not RunFolder(self.folder).config.exists():
            raise no_run(self.folder)

    @property
    def recipe(self) -> Recipe:
        """All settings of the run."""
        return RunFolder(self.folder).stored_recipe()

    @property
    def best(self) -> Path:
        """File of the best net."""
        return RunFolder(self.folder).best()

    @property
    def report(self) -> Path:
        """The page with all figures."""
        return RunFolder(self.folder).report

    @property
    def metrics(self) -> Rows[GenerationRow]:
        """A row a finished generation; `.to_pandas()` gives a DataFrame. All numbers are in `metrics.jsonl`."""
        history = RunFolder(self.folder).read_metrics()
        total = max(self.recipe.run.generations, len(history))
        return Rows(row_of(line, total) for line in history)

    def __repr__(self) -> str:
        rows = self.metrics
        last = f", {rows[-1].games} games in the last" if rows else ""
        if rows and rows[-1].elo is not None:
            last += f", Elo {rows[-1].elo:+.0f}"
        generations = f"{len(rows)} of {self.recipe.run.generations} generations"
        return f"LearningRun({str(self.folder)!r}: {generations}{last})"

    def _repr_html_(self) -> str:
        """The run in a notebook: its rows and the figures of learning."""
        head = f"<p>{escape(repr(self))}, <a href='{escape(str(self.report))}'>report</a></p>"
        if not self.metrics:
            return head
        from hauteur.learning.report.page import run_report  # the figures, which learning does not need

        report = run_report(RunFolder(self.folder))
        inner = replace(report, sections=report.sections[:1]).html()  # a frame: its style is not the notebook's
        frame = f'<iframe srcdoc="{escape(inner)}" style="width: 100%; height: 480px; border: 0"></iframe>'
        return f"{head}{self.metrics._repr_html_()}{frame}"


@with_hints
def learn(
    recipe: Recipe | str | Path,
    *overrides: str,
    out: str | Path | None = None,
    fresh: bool = False,
    on_generation: Callable[[GenerationRow], object] | None = None,
    workers: int = 0,
    cluster: str | None = None,
) -> LearningRun:
    """Learn a game by self-play, as a recipe says: begin its run or resume that of the folder, and take it to its end.

    Parameters
    ----------
    recipe
        An `ht.Recipe`, the name of one that ships (`hauteur train --list`), a TOML file, or the folder of a run, which
        goes on.
    overrides
        Changes to it as on the command line: `"run.generations=20"`, `"selfplay.visits=100"`.
    out
        Folder of the run; default: runs/GAME/TAG, TAG being the recipe's run.tag.
    fresh
        Refuse to resume a run that is already in the folder.
    on_generation
        Called after every generation with its `GenerationRow`, in the place of the lines on the terminal; with `print`
        a shorter line. What it raises ends the run, which can be resumed.
    workers
        Processes that play the games; 0: this process plays them, or with `cluster` as many as fit. The
        games and nets are the same.
    cluster
        Where workers run: `auto` or HOST:PORT, a cluster of Ray; None: this machine, without Ray.

    Ctrl-C (KeyboardInterrupt) ends the run at once and is raised again; the same call resumes it, to the same games and
    nets as without the interruption. Return the run: `.folder`, `.best` (file of the best net), `.metrics` (a row a
    generation, `.to_pandas()`), `.report`. Raise ValueError, in one line, for settings that are wrong, that do not fit
    each other or the game, or that differ from those the folder's run was begun with.

    >>> import hauteur as ht
    >>> recipe = ht.Recipe(
    ...     game="tictactoe", network=ht.ResNet(filters=8, blocks=1),
    ...     selfplay={"games": 20, "visits": 10}, gate={"games": 4}, run={"generations": 1},
    ... )
    >>> run = ht.learn(recipe, out="first-run", on_generation=print)  # doctest: +ELLIPSIS
    gen 1/1  games 20  positions ...
    >>> run.best.name, len(run.metrics)
    ('best.safetensors', 1)
    """
    require("hauteur.learn", "torch", "pyarrow")
    changed, out = _recipe(recipe, overrides, out)
    folder = changed.folder if out is None else Path(out)
    with open_scheduler(WorkerOptions(workers, cluster)) as scheduler:
        loop.learn(changed, folder=folder, fresh=fresh, display=Display(on_generation), scheduler=scheduler)
    return LearningRun(folder)


def _recipe(
    recipe: Recipe | str | Path, overrides: tuple[str, ...], out: str | Path | None
) -> tuple[Recipe, str | Path | None]:
    """Return the recipe that is meant, and the folder of its run where that is given."""
    if isinstance(recipe, Recipe):
        return changed_recipe(recipe, overrides), out
    if not isinstance(recipe, str | Path):
        raise TypeError(f"a recipe is a hauteur.Recipe, a name or a path, got {described(recipe)}")
    path = Path(recipe)
    if not path.is_dir():
        return load_recipe(recipe_file(recipe), overrides), out
    if out is not None and Path(out).resolve() != path.resolve():
        raise ValueError(f"{path} is the folder of a run, which goes on there: leave out={str(out)!r} out")
    return changed_recipe(RunFolder(path).stored_recipe(), overrides), path


@with_hints
def self_play(
    game: _core.Game | str,
    player: PlayerSettings | str,
    games: int = 100,
    *,
    parallel: int = 64,
    seed: int = 0,
    temperature: float | Temperature | None = 1.0,
    noise: bool = True,
    random_plies: int = 0,
    max_plies: int | None = None,
    threads: int = 0,
    progress: bool | None = None,
) -> Generator[GameRecord]:
    """Play games of a player against itself; yield each as it ends.

    Parameters
    ----------
    game
        A game, or its spec.
    player
        `ht.Player(evaluator, params, visits=...)`, or a text as of `ht.Player.from_text`.
    games
        How many, at least 1.
    parallel
        Games at a time, 1 to 100,000; their positions share the evaluator's batches.
    seed
        Of all random draws, 0 or more. The same seed gives the same games, as far as the evaluator gives the same
        answer to a row in every batch; their order depends on `parallel`.
    temperature
        At which moves are drawn by their visits, 0 (the best move) to 100, or a `Temperature` schedule; None:
        the player's own.
    noise
        Dirichlet noise at the root, with its default settings, where the player's search has none.
    random_plies
        Each game begins with 0 to this number of uniformly random plies, which are not learned from.
    max_plies
        A longer game is a draw; None: the game's own rules.
    threads
        Of a net on the processor, 1 to 1024; 0: one a core.
    progress
        Show a line of progress; None: on a terminal and in a notebook.

    A record has `actions`, `outcome` (+1 the first player won, 0 draw, -1), and for each of its n moves the visits, the
    root's wdl float32 [n, 3] for the mover, and the policy; `ht.ReplayBuffer.add` takes records as they are. Closing
    the iterator ends the games that are running. Raise ValueError at once for settings out of range, or that do not fit
    the game; what an evaluator raises comes out of the iterator.

    >>> import hauteur as ht
    >>> records = list(ht.self_play("tictactoe", "net=uniform visits=20", games=4))
    >>> sorted(record.plan.index for record in records)
    [0, 1, 2, 3]
    >>> records[0].root_wdl.shape == (len(records[0].actions), 3)
    True
    """
    rules = load_game(game)
    settings = parse_player(player) if isinstance(player, str) else player
    if games < 1 or random_plies < 0 or seed < 0:
        raise ValueError(
            f"games must be at least 1, random_plies and seed at least 0, got {games}, {random_plies} and {seed}"
        )
    if max_plies is not None and max_plies <= random_plies:
        raise ValueError(f"max_plies must be more than random_plies, got {max_plies} and {random_plies}")
    resources = Resources(parallel=parallel, threads=threads)
    plans = (_plan(rules, index, random_plies, seed) for index in range(games))
    # Not a generator itself, which would tell of wrong settings with the first game: the iterator gets what is open.
    with ExitStack() as stack:
        evaluators = stack.enter_context(Evaluators(rules, resources))
        built = _varied(build_player(rules, settings, evaluators, "player"), temperature, noise=noise)
        records = play_games(
            rules,
            [built],
            plans,
            seed=seed,
            purpose="self-play",
            layout=Layout(parallel, resources.rows),
            rules=GameRules(max_plies=max_plies),
        )
        line = ProgressLine(progress, "opening the nets")
        return _until_closed(records, stack.pop_all(), line, games)


def _until_closed(
    records: Generator[GameRecord],
    stack: ExitStack,
    line: ProgressLine,
    games: int,
) -> Generator[GameRecord]:
    """Yield the records; close what they are made with after the last one."""
    with stack, closing(records), line:
        for done, record in enumerate(records, 1):
            line.show(f"{done:,}/{games:,} games", done / games, last=done == games)
            yield record


def _varied(
    player: SearchPlayer | MovePlayer, temperature: float | Temperature | None, *, noise: bool
) -> SearchPlayer | MovePlayer:
    """The player with what makes its games differ; one that does not search unchanged."""
    if not isinstance(player, SearchPlayer):
        return player
    if noise and player.search.dirichlet is None:
        player = replace(player, search=player.search.model_copy(update={"dirichlet": Dirichlet()}))
    if temperature is None:
        return player
    if not isinstance(temperature, Temperature):
        temperature = Temperature(initial=temperature)
    return replace(player, temperature=temperature)


def _plan(game: _core.Game, index: int, random_plies: int, seed: int) -> GamePlan:
    if not random_plies:
        return GamePlan(index)
    # By the number of the game: how it begins does not depend on how many are asked for.
    random = stream(seed, "opening", index)
    plies = int(random.integers(random_plies + 1))
    return GamePlan(index, start=random_opening(game, plies, random))
