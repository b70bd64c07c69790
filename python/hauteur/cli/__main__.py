"""`python -m hauteur.cli` is the `hauteur` command."""

import sys

from hauteur.cli.main import main

sys.exit(main())
