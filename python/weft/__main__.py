"""python -m weft script.py [arguments]: runs a TensorFlow program on weft."""

import runpy
import sys

HELP = """usage: python -m weft [-m MODULE | SCRIPT | -c CODE] [ARGUMENT ...]

Runs a Python program in which `import tensorflow` means weft, with all its submodules.

  python -m weft train.py --epochs 3     a script
  python -m weft -m package.train        a module
  python -m weft -c "import tensorflow as tf; print(tf.constant(1))"
"""


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0 if arguments else 2
    import os

    import weft.as_tensorflow  # noqa: F401

    if arguments[0] == "-m" and len(arguments) > 1:
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0] == "-c" and len(arguments) > 1:
        sys.argv = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


sys.exit(main())
