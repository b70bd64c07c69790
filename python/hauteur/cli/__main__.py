"""`python -m hauteur.cli` is the `hauteur` command."""

import sys

from hauteur.cli.start import main

sys.exit(main())
