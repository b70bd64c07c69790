"""Options that several commands have."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

Seed = Annotated[int, Parameter(validator=Number(gte=0, lt=2**63))]
"""A seed of random draws, 0 to 2^63 - 1."""
