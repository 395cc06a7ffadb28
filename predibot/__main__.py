"""The command line as `python -m predibot`."""

import sys

from predibot.cli import main

if __name__ == "__main__":
    sys.exit(main())
