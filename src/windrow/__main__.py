"""`python -m windrow`: the command line."""

import sys

from windrow.cli import main

if __name__ == "__main__":
    sys.exit(main())
