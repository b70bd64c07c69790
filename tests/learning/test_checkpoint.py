"""Check sums of checkpoints: no flipped bit is taken in silently."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from hauteur.learning.checkpoint import FORMAT, RunState, load_checkpoint, save_checkpoint

pytestmark = pytest.mark.quick


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    tensors = {f"small.{name}": random.normal(size=(9, 7)).astype(np.float32) for name in "abcd"}
    history = [{"generation": number, "loss": 1 / number} for number in range(1, 20)]
    save_checkpoint(tmp_path / "a.safetensors", RunState(generation=20, best=7, history=history), tensors)
    return tmp_path / "a.safetensors"


@pytest.mark.parametrize("seed", range(4))
def test_no_flipped_bit_is_taken_in_silently(tmp_path: Path, checkpoint: Path, seed: int) -> None:
    whole = checkpoint.read_bytes()
    random = np.random.default_rng(seed)
    path = tmp_path / "flipped.safetensors"
    (state, tensors), refused, same = load_checkpoint(checkpoint), 0, 0
    for _ in range(200):
        data = bytearray(whole)
        data[random.integers(len(data))] ^= 1 << int(random.integers(8))
        path.write_bytes(data)
        try:
            found, arrays = load_checkpoint(path)
        except ValueError as error:
            refused += str(error).startswith(f"{path}: ") and len(str(error).splitlines()) == 1
            continue
        assert found == state
        assert {name: values.tobytes() for name, values in arrays.items()} == {
            name: values.tobytes() for name, values in tensors.items()
        }
        same += 1
    assert (refused + same, refused > 190) == (200, True)


def test_a_checkpoint_without_check_sum_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(save({"a": np.zeros(2)}, metadata={"format": FORMAT, "state": RunState().model_dump_json()}))
    with pytest.raises(ValueError, match=r"a\.safetensors: its state and tensors are not those that were written"):
        load_checkpoint(path)
