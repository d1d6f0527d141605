"""python -m weft.install_as_tensorflow [--remove] [--target FOLDER]: makes `tensorflow` mean weft in an environment, for Python and for pip."""

import sys

from weft._src.installer import main

if __name__ == "__main__":
    sys.exit(main())
