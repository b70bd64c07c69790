"""Where a result comes from."""

from pathlib import Path

import pytest

import hauteur
from hauteur.system import hardware
from hauteur.system.provenance import provenance

pytestmark = pytest.mark.quick


def test_the_commit_is_that_of_the_whole_package() -> None:
    package = Path(hauteur.__file__).parent
    found = hardware.command_output("git", "-C", str(package), "log", "-1", "--format=%H", "--", str(package))
    assert provenance()["commit"] == (found or None)
