"""`python -m holdfast`: the command `holdfast`, where its script is not on the path."""

import sys

from holdfast.surfaces.cli.entry import main

sys.exit(main())
