"""Recompute reference files that were made with Leela Chess Zero (lc0): input planes, network outputs, searches.

    python checks/verify_lc0.py planes   input_planes.json
    python checks/verify_lc0.py outputs  nn_outputs.json  --nets NETS
    python checks/verify_lc0.py searches puct_visits.json --nets NETS

NETS is a folder with the nets that the file names. Exit status: 0 within the tolerance, 1 beyond it, 2 for a file or an
option that is wrong. What is compared and what was measured: docs/reference/verify.md.

A position is {"id", "fen", "moves"}: a FEN or `startpos`, and UCI moves from there (castling also as e1h1; rights given
as files, HAha, mean Chess960). planes: positions[] with planes {"0": ["000000000000ff00", 1.0], ...}, mask in
hexadecimal (bit = square from the mover's perspective, a1 first) and value of every plane that is not empty. outputs:
nets {name: {"file", "sha256"}}, positions[] with legal_moves, nn_index, outputs {net: {"q", "d", "p" or "logits"}}.
searches: sets[] of {"name", "net", "options" (lc0's), "positions"}, each position with searches {"nodes": {"moves":
[[uci, N, Q, P%], ...], "root_Q"}}. With random draws: {"net", "nodes", "options", "positions"}, each position with
by_limit[] of {"ScLimit", "repeats", "moves": [[uci, mean N, std N], ...], "root_Q": [mean, std],
"replies_to_top_move": {"top", "n_repeats", "replies"}}.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur._core import Forest, Game, State, encode_positions
from hauteur.mcts.driver import SearchDriver
from hauteur.mcts.lc0_options import SEARCH_OPTIONS, TEMPERATURE_OPTIONS, WITHOUT_EFFECT, search_params
from hauteur.networks.evaluators.factory import make_evaluator

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Backend, Evaluator

Floats = NDArray[np.float64]
Content = dict[str, Any]
"""A JSON object of a file."""
Differences = dict[str, list[tuple[float, str]]]
"""By quantity, each with its position."""

PLANES = 112
PLAIN_PUCT = 1_000_000_000
"""Values of ScLimit from here on turn search-contempt off."""
SUFFIXES = ("", ".pb.gz", ".pb", ".safetensors")
BATCH = 64
TOLERANCES = {"planes": 0.0, "outputs": 1e-3, "searches": 0.01}
"""Cells that differ; largest difference of P, Q and D; largest mean distance of a set and number of nodes."""

SEEDS = 50
LEAST_SHARE = 0.02
"""Moves with a recorded share of the visits up to this one are not compared where searches are random."""
MOST_ERRORS = 3.0
"""Standard errors that a move's mean may be off."""
REQUIRED = 0.95
"""Share of the moves that must lie within MOST_ERRORS."""

NEEDS = {
    "CacheHistoryLength": (0, 7, "evaluations are re-used for positions with another history"),
    "SmartPruningFactor": (1.33, 0, "moves that cannot catch up are left out"),
    "MinibatchSize": (0, 1, "leaves are collected in batches"),
    "DirichletNoiseEpsilon": (0.0, 0, "random noise at the root"),
    "SwapColors": (False, 0, "search-contempt with swapped colours"),
    "SyzygyPath": ("", "", "endgame tablebases"),
}
"""Options that a search must have at a value to be recomputed: default of lc0, value, what else it would need."""

NO_INFLUENCE = (
    *("Backend", "Hash", "HistoryFill", "LogFile", "LogLiveStats", "MoveOverheadMs", "MultiPV"),
    *("NNCacheSize", "PerPVCounters", "Ponder", "RamLimitMb", "ScoreType", "Slowmover", "StrictTiming"),
    *("Threads", "UCI_Chess960", "UCI_ShowEPS", "UCI_ShowWDL", "VerboseMoveStats", "WeightsFile"),
)
"""Options of lc0 without influence on the root visits of a sequential search."""


# -- files and positions -----------------------------------------------------------------------------------------------


@contextmanager
def placed(place: object) -> Iterator[None]:
    """Name the place of a fault in what was read: ValueError in one line."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{place}: {error.args[0]} is missing") from None
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{place}: not of the format: {error}") from None
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def read(path: Path) -> Content:
    """Read a reference file; ValueError where it is no JSON object, or for other planes than lc0's 112."""
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("input_format", 1) != 1:
        raise ValueError(f"{path}: a JSON object is needed, with input_format 1 (112 planes) where it has one")
    return content


def reached(position: Mapping[str, Any], history_fill: str = "fen_only") -> State:
    """Return the state of a position: `fen` (or startpos), then `moves`. Files as castling rights mean Chess960."""
    with placed(f"position {position['id']!r}"):
        fen = position["fen"]
        parts = [f"history_fill={history_fill}"]
        if fen != "startpos":
            if set(fen) & set(",()="):
                raise ValueError(f"fen is no position: {fen[:80]!r}")
            rights = fen.split()[2:3]
            is_chess960 = bool(rights and set(rights[0].lower()) & set("abcdefgh"))
            parts += [f"fen={fen}", f"chess960={str(is_chess960).lower()}"]
        state = Game(f"chess({', '.join(parts)})").new_initial_state()
        for move in position.get("moves", ()):
            state.apply(action_of(state, move))
    return state


def action_of(state: State, move: str) -> int:
    """The action of a move in UCI, or as lc0 names it: a promotion to a knight without letter."""
    try:
        return state.parse(move)
    except ValueError:
        if len(move) == 4 and move[3] in "18":
            return state.parse(move + "n")
        raise


def actions_of(position: Mapping[str, Any], moves: Sequence[str], state: State) -> list[int]:
    """The actions of some moves of a position, each listed once."""
    with placed(f"position {position['id']!r}"):
        actions = [action_of(state, move) for move in moves]
        if len(set(actions)) < len(actions) or not actions:
            raise ValueError("a move is listed twice, or none is")
    return actions


def find_net(folder: Path, name: str) -> Path:
    """Return the file of a net in a folder. Names never lead out of the folder."""
    if not folder.is_dir():
        raise ValueError(f"--nets must be a folder that holds the nets of the reference file, got {str(folder)!r}")
    if Path(name).name != name:
        raise ValueError(f"a net's name must be a file name, got {name!r}")
    for path in (folder / f"{name}{suffix}" for suffix in SUFFIXES):
        if path.is_file():
            return path
    raise ValueError(f"net {name!r} of the reference file is not in {folder} (endings: {', '.join(SUFFIXES[1:])})")


@contextmanager
def opened(path: Path, backend: Backend | None = None, threads: int | None = None) -> Iterator[Evaluator]:
    """An evaluator of a chess net in float32 on the processor, the same from run to run."""
    evaluator = make_evaluator(Game("chess"), path, backend=backend, precision="float32", threads=threads, device="cpu")
    try:
        yield evaluator
    finally:
        evaluator.close()


@dataclass
class Report:
    """Comparisons, a line each; worst: what the tolerance bounds; wrong: what no tolerance allows."""

    lines: list[str] = field(default_factory=list)
    worst: float = 0.0
    wrong: list[str] = field(default_factory=list)


# -- planes ------------------------------------------------------------------------------------------------------------


def planes(path: Path) -> Report:
    """Compare the features of every position, written out and packed, with the planes of the file, cell by cell."""
    report = Report()
    with placed(path):
        positions = read(path)["positions"]
        for position in positions:
            unequal = _unequal_cells(position)
            report.worst += int(unequal.sum())
            if unequal.any():
                where = np.flatnonzero(unequal.any(axis=1)).tolist()
                report.lines.append(f"{position['id']}: planes {', '.join(map(str, where))}")
    cells = len(positions) * PLANES * 64
    report.lines.insert(0, f"{len(positions)} positions, {cells} cells, {report.worst:g} differ")
    return report


def _unequal_cells(position: Content) -> NDArray[np.bool_]:
    """Cells that differ, [112, 64]."""
    state = reached(position)
    masks = np.zeros(PLANES, np.uint64)
    values = np.ones(PLANES, np.float32)
    for plane, (mask, value) in position["planes"].items():
        masks[int(plane)], values[int(plane)] = int(mask, 16), value
    expected = _unpacked(masks, values)
    packed = _unpacked(*state.features_packed())
    return np.asarray((state.features().reshape(PLANES, 64) != expected) | (packed != expected))


def _unpacked(masks: NDArray[np.uint64], values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Masks [112] and values [112] as planes [112, 64]."""
    bits = (masks[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    return np.where(bits != 0, values[:, None], np.float32(0))


# -- outputs -----------------------------------------------------------------------------------------------------------


def outputs(path: Path, nets: Path, *, backend: Backend | None = None, threads: int | None = None) -> Report:
    """Evaluate every position with every net that the file has outputs of: differences of P, Q and D."""
    report = Report()
    with placed(path):
        content = read(path)
        names = sorted({name for position in content["positions"] for name in position["outputs"]})
        known = content.get("nets", {})
        files = {name: find_net(nets, known.get(name, {}).get("file", name)) for name in names}
        for name in names:
            with opened(files[name], backend, threads) as evaluator:
                found = _compared(content["positions"], name, evaluator, report.wrong)
            same = known.get(name, {}).get("sha256") in (None, hashlib.sha256(files[name].read_bytes()).hexdigest())
            note = "" if same else " (its hash is not that of the reference)"
            counts = f"{len(found['Q'])} positions, {len(found['P'])} moves"
            report.lines.append(f"{name}: {files[name].name}{note}, {counts}")
            for quantity, differences in found.items():
                largest, place = max(differences)
                mean = np.mean([difference for difference, _ in differences])
                report.lines.append(f"  |d{quantity}|: largest {largest:.2e} (at {place}), mean {mean:.2e}")
                report.worst = max(report.worst, largest)
    return report


def _compared(positions: Sequence[Content], name: str, evaluator: Evaluator, wrong: list[str]) -> Differences:
    """Differences by quantity, each with its position. wrong: receives positions with other moves or policy indices."""
    mine = [position for position in positions if name in position["outputs"]]
    states = [reached(position) for position in mine]
    found = defaultdict[str, list[tuple[float, str]]](list)
    for position, state, (logits, wdl) in zip(mine, states, evaluated(states, evaluator), strict=True):
        actions = actions_of(position, position["legal_moves"], state)
        expected = position["outputs"][name]
        if list(position.get("nn_index", actions)) != actions or sorted(actions) != state.legal_actions().tolist():
            wrong.append(f"{position['id']}: legal moves or policy indices differ")
        chances = np.array(expected["p"], float) if "p" in expected else softmax(np.array(expected["logits"], float))
        differences = {
            "P": np.abs(softmax(logits[actions]) - chances),
            "Q": np.abs(np.array([wdl[0] - wdl[2] - expected["q"]])),
            "D": np.abs(np.array([wdl[1] - expected["d"]] if expected.get("d") is not None else [])),
        }
        for quantity, values in differences.items():
            found[quantity] += [(float(value), str(position["id"])) for value in values if value == value]
            wrong += [f"{position['id']}: {quantity} is no number"] * int(np.isnan(values).any())
    return {quantity: values for quantity, values in found.items() if values}


def evaluated(states: Sequence[State], evaluator: Evaluator) -> Iterator[tuple[Floats, Floats]]:
    """Yield policy logits [A] and wdl [3] of each state."""
    for first in range(0, len(states), BATCH):
        chunk = states[first : first + BATCH]
        features = np.empty((len(chunk), *Game("chess").feature_shape), np.float32)
        encode_positions(chunk, features)
        logits, wdl = evaluator(features)
        yield from zip(np.asarray(logits, np.float64), np.asarray(wdl, np.float64), strict=False)


def softmax(logits: Floats) -> Floats:
    """exp(x - max) / sum, over the last axis."""
    shifted = np.exp(logits - logits.max())
    return np.asarray(shifted / shifted.sum())


# -- searches ----------------------------------------------------------------------------------------------------------


def checked(options: Content, *, contempt: bool = False) -> list[str]:
    """Return what a search with these options needs besides sequential PUCT, in words; empty: it can be recomputed.

    contempt: search-contempt is repeated, so that its draws are no obstacle. ValueError for an unknown option.
    """
    known = (option.name for option in (*SEARCH_OPTIONS, *TEMPERATURE_OPTIONS))
    names = {name.lower() for name in (*known, *WITHOUT_EFFECT, *NO_INFLUENCE, *NEEDS)}
    unknown = [name for name in options if name.lower() not in names]
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r}: neither lc0 nor hauteur has it")
    given = {name.lower(): value for name, value in options.items()}
    found = list[str]()
    if not contempt and _number("ScLimit", given.get("sclimit", PLAIN_PUCT)) < PLAIN_PUCT:
        found.append(f"ScLimit={given['sclimit']} (search-contempt has random draws)")
    for name, (default, needed, reason) in NEEDS.items():
        value = given.get(name.lower(), default)
        is_met = value in ("", "<empty>") if needed == "" else _number(name, value) == needed
        if not is_met:
            source = "" if name.lower() in given else " by default"
            found.append(f"{name}={value}{source} ({reason})")
    return found


def _number(name: str, value: object) -> float:
    words = {"false": 0.0, "off": 0.0, "true": 1.0, "on": 1.0}
    try:
        return words[value] if isinstance(value, str) and value in words else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"option {name}: {value!r} is not a value that it can have") from None


def forest_of(options: Content, **others: int) -> Forest:
    """Searches that are exactly sequential, one leaf of a tree at a time, in lc0's arithmetic."""
    return Forest(Game("chess"), search_params(options, max_in_flight=1, arithmetic="lc0", **others))


def _history_fill(options: Content) -> str:
    return str({name.lower(): value for name, value in options.items()}.get("historyfill", "fen_only"))


def grow(forest: Forest, trees: NDArray[np.int64], nodes: int, evaluator: Evaluator, batch: int = 0) -> None:
    """Search these trees, and no others, up to `nodes` root visits."""
    forest.set_visit_limits(trees, np.full(len(trees), nodes, np.uint32))
    SearchDriver(forest, evaluator, batch_size=batch or len(trees), in_flight=1).run()


def searches(path: Path, nets: Path, *, seeds: int = SEEDS, **net: Any) -> Report:
    """Repeat the searches of a file: one tree a position, or `seeds` of them where the searches have random draws."""
    if seeds < 1:
        raise ValueError(f"--seeds must be 1 or more, got {seeds}")
    report = Report()
    with placed(path):
        content = read(path)
        if "sets" not in content and "nodes" in content:
            return _repeats(content, nets, seeds, **net)
        needed = {}
        for one in content["sets"]:
            with placed(f"set {one['name']!r}"):
                needed[one["name"]] = checked(one["options"])
                forest_of(one["options"])
        files = {one["net"]: find_net(nets, one["net"]) for one in content["sets"] if not needed[one["name"]]}
        if not files:
            raise ValueError("nothing can be compared: every set needs more than sequential PUCT")
        for one in content["sets"]:
            title = f"{one['name']} ({one['net']})"
            if needed[one["name"]]:
                report.lines.append(f"{title}: skipped, it needs {'; '.join(needed[one['name']])}")
                continue
            report.lines.append(f"{title}:")
            with opened(files[one["net"]], **net) as evaluator:
                _compare_set(report, one, evaluator)
    return report


def _compare_set(report: Report, one: Content, evaluator: Evaluator) -> None:
    """Grow one tree a position and compare it at every number of nodes: a search of 800 passes through that of 100."""
    positions = one["positions"]
    options = one["options"]
    states = [reached(position, _history_fill(options)) for position in positions]
    forest = forest_of(options)
    trees = np.array([forest.add(state) for state in states], np.int64)
    for nodes in sorted({int(nodes) for position in positions for nodes in position["searches"]}):
        if nodes < 1:
            raise ValueError(f"searches must have 1 node or more, got {nodes}")
        asked = [index for index, position in enumerate(positions) if str(nodes) in position["searches"]]
        grow(forest, trees[asked], nodes, evaluator)
        found = [_compare_search(forest, trees[index], positions[index], states[index], nodes) for index in asked]
        distances, priors, qs = (np.array(column) for column in zip(*found, strict=True))
        farthest = positions[asked[int(distances.argmax())]]["id"]
        report.worst = max(report.worst, float(distances.mean()))
        report.lines.append(
            f"  {nodes:>7} nodes: {int((distances == 0).sum()):>3} of {len(found):>3} identical, distance mean "
            f"{distances.mean():.4f}, largest {distances.max():.4f} ({farthest}); |dP| <= {priors.max():.1e}; "
            f"|d root Q| <= {qs.max():.1e}"
        )


def _compare_search(forest: Forest, tree: np.int64, position: Content, state: State, nodes: int) -> tuple[float, ...]:
    """Return the distance of the root visits, and the largest differences of priors and of the root's Q."""
    ids = np.array([tree], np.int64)
    expected = position["searches"][str(nodes)]
    actions = actions_of(position, [row[0] for row in expected["moves"]], state)
    own, priors = (array[0].astype(float) for array in (forest.root_visits(ids), forest.root_priors(ids)))
    lost = [edge["action"] for edge in forest.root_edges(int(tree)) if edge["upper"] == -1]
    priors[lost] = 0.0  # as lc0 reports moves that are proven lost
    visits = np.zeros_like(own)
    visits[actions] = [float(row[1]) for row in expected["moves"]]
    rows = zip(actions, expected["moves"], strict=True)
    prior = max([abs(priors[action] - row[3] / 100) for action, row in rows if len(row) > 3], default=0.0)
    win, _, loss = forest.root_values(ids)[0].astype(float)
    q = abs(win - loss - expected["root_Q"]) if expected.get("root_Q") is not None else 0.0
    return distance(own, visits), float(prior), float(q)


def distance(visits: Floats, others: Floats) -> float:
    """Total-variation distance of two distributions of visits, 0 to 1; 0 if neither has any."""
    if not visits.any() or not others.any():
        return float(visits.any() != others.any())
    return float(np.abs(visits / visits.sum() - others / others.sum()).sum() / 2)


# -- searches with random draws ----------------------------------------------------------------------------------------


def errors_apart(visits: Floats, mean: Floats, std: Floats, repeats: int) -> Floats:
    """Distance of the means of visits [seeds, moves] from recorded ones, in standard errors of both together.

    A deviation of 0 over n repeats shows only that fewer than one of them was a visit off, so it is taken to be at
    least 1 / sqrt(n), the deviation of n repeats of which one is off by one.
    """
    seeds = len(visits)
    own = visits.std(axis=0, ddof=1) if seeds > 1 else np.zeros(visits.shape[1])
    errors = (np.maximum(s, 1 / np.sqrt(n)) / np.sqrt(n) for s, n in ((own, seeds), (std, repeats)))
    return np.asarray(np.abs(visits.mean(axis=0) - mean) / np.hypot(*errors), np.float64)


def _repeats(content: Content, nets: Path, seeds: int, **net: Any) -> Report:
    """Repeat every position and limit with `seeds` seeds, all trees of a limit side by side."""
    unmet = checked(content["options"], contempt=True)
    if unmet:
        raise ValueError(f"the searches need {'; '.join(unmet)}")
    report = Report()
    compared = 0
    within = 0
    with opened(find_net(nets, content["net"]), **net) as evaluator:
        for limit in sorted({one["ScLimit"] for position in content["positions"] for one in position["by_limit"]}):
            options = {**content["options"], "ScLimit": limit}
            asked = [(p, one) for p in content["positions"] for one in p["by_limit"] if one["ScLimit"] == limit]
            states = [reached(position, _history_fill(options)) for position, _ in asked]
            forest = forest_of(options, cache_size=5_000_000)
            trees = [np.array([forest.add(state, seed) for seed in range(seeds)], np.int64) for state in states]
            grow(forest, np.concatenate(trees), content["nodes"], evaluator, min(256, seeds * len(states)))
            for (position, one), state, ids in zip(asked, states, trees, strict=True):
                apart = _moves_apart(forest, position, one, state, ids)
                replies = _replies_apart(forest, position, one, state, ids)
                compared = compared + len(apart)
                within = within + int((apart <= MOST_ERRORS).sum())
                report.lines.append(
                    f"  {limit:>10} {position['id']}: {(apart <= MOST_ERRORS).sum()} of {len(apart)} moves within, "
                    f"farthest {max(apart, default=0.0):.1f} SE; "
                    f"replies {(replies <= MOST_ERRORS).sum()} of {len(replies)}"
                )
    share = within / compared if compared else 1.0
    report.lines.append(f"{within} of {compared} moves within {MOST_ERRORS:g} standard errors ({share:.1%})")
    report.wrong += [] if share >= REQUIRED else [f"BELOW {REQUIRED:.0%} of the moves within {MOST_ERRORS:g} SE"]
    return report


def _moves_apart(forest: Forest, position: Content, one: Content, state: State, trees: NDArray[np.int64]) -> Floats:
    """Distances of the root moves."""
    actions = actions_of(position, [row[0] for row in one["moves"]], state)
    return _large_apart(forest.root_visits(trees)[:, actions].astype(float), one["moves"], one["repeats"])


def _replies_apart(forest: Forest, position: Content, one: Content, state: State, trees: NDArray[np.int64]) -> Floats:
    """Distances of the replies to the recorded best move, over the trees in which it is the best one too."""
    replies = one.get("replies_to_top_move")
    if not replies or not replies["replies"]:
        return np.zeros(0)
    top = actions_of(position, [replies["top"]], state)[0]
    same = [int(tree) for tree in trees if forest.root_edges(int(tree))[0]["action"] == top]
    if not same:
        return np.full(len(replies["replies"]), np.inf)
    state.apply(top)
    actions = actions_of(position, [row[0] for row in replies["replies"]], state)
    below = [{action: visits for action, visits, _ in forest.edges_after(tree, [top])} for tree in same]
    visits = np.array([[tree[action] for action in actions] for tree in below], float)
    return _large_apart(visits, replies["replies"], replies["n_repeats"])


def _large_apart(visits: Floats, rows: Sequence[Sequence[Any]], repeats: int) -> Floats:
    """Distances of the moves with a large enough recorded share. rows: move, mean, standard deviation."""
    mean, std = (np.array([float(row[place]) for row in rows]) for place in (1, 2))
    return np.asarray(errors_apart(visits, mean, std, repeats)[mean > LEAST_SHARE * mean.sum()])


def main(words: Sequence[str] | None = None) -> int:
    """Compare a file, print the report and the verdict; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=tuple(TOLERANCES))
    parser.add_argument("reference", type=Path, help="file of lc0")
    parser.add_argument("--nets", type=Path, default=Path(), help="folder with the nets that the file names")
    parser.add_argument("--backend", choices=("core", "torch", "onnxruntime"))
    parser.add_argument("--threads", type=int)
    parser.add_argument("--tolerance", type=float, help="difference that is allowed")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="repeats of searches with random draws")
    given = parser.parse_args(words)
    tolerance = TOLERANCES[given.what] if given.tolerance is None else given.tolerance
    try:
        if not tolerance >= 0:
            raise ValueError(f"--tolerance must be >= 0, got {tolerance}")
        if given.what == "planes":
            report = planes(given.reference)
        elif given.what == "outputs":
            report = outputs(given.reference, given.nets, backend=given.backend, threads=given.threads)
        else:
            net = {"backend": given.backend, "threads": given.threads}
            report = searches(given.reference, given.nets, seeds=given.seeds, **net)
    except (ValueError, OSError) as error:
        print(f"verify_lc0: {error}", file=sys.stderr)
        return 2
    failed = bool(report.wrong) or not report.worst <= tolerance
    verdict = f"{'BEYOND' if failed else 'within'} the tolerance of {tolerance:g}"
    print("\n".join([*report.lines, *report.wrong, verdict]))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
