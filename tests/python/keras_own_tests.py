"""The tests that the package keras brings along (keras/src/**/*_test.py), with TensorFlow's backend on weft.

    python keras_own_tests.py [FOLDER or FILE ...] [--write FILE] [--against FILE] [-- ARGUMENTS OF PYTEST]

Folders are those of keras/src, for example `ops layers/rnn ops/nn_test.py`. Where weft cannot be imported the tests run on TensorFlow: `--write` there writes
what each test gave, `--against` here lists the tests that passed there and do not pass here (exit status 1 where there is one).

The tests need scipy, pandas and pillow beside what requirements.txt names. This file is the pytest plug-in, too (`-p keras_own_tests`).
"""

import argparse
import importlib
import importlib.util
import os
import pathlib
import sys
import types

import pytest

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
try:
    import weft.as_tensorflow  # noqa: F401  from here on `tensorflow` is weft
except ModuleNotFoundError:
    import tensorflow  # noqa: F401  before keras, as there

# Packages that some tests import at the top although TensorFlow's backend does not use them.
OTHERS = ("jax", "jax.numpy", "jax.experimental", "jax.experimental.sparse", "torch", "grain")


class _AbsentClass(type):
    def __call__(cls, *args, **kwargs):
        pytest.skip(f"{cls.__name__} is not installed")

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _AbsentClass(f"{cls.__name__}.{name}", (), {})


class _Absent(types.ModuleType):
    """A package that is not installed: everything in it is a class without values, and a test that calls it is skipped."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _AbsentClass(f"{self.__name__}.{name}", (), {})


def _conftest():
    """What keras' conftest.py gives its tests; the wheel does not have it."""
    module = types.ModuleType("conftest")
    module.skip_if_backend = lambda backend, reason: pytest.mark.skipif(backend == "tensorflow", reason=reason)
    return module


def pytest_configure(config):
    sys.modules.setdefault("conftest", _conftest())
    # Keras looks for them on its own; what it does not find must be absent while it is imported.
    importlib.import_module("keras")
    absent = {name for name in ("jax", "torch", "grain") if importlib.util.find_spec(name) is None}
    sys.modules.update({name: _Absent(name) for name in OTHERS if name.partition(".")[0] in absent})
    for line in ("requires_trainable_backend: the backend can train", "multi_device: needs several devices"):
        config.addinivalue_line("markers", line)
    config.stash[_OUTCOMES] = {}
    _outcomes.update(current=config.stash[_OUTCOMES])


_OUTCOMES = pytest.StashKey[dict]()
_outcomes = {"current": {}}


def pytest_runtest_logreport(report):
    """A test's outcome is that of its call, or of what failed before or after it."""
    table = _outcomes["current"]
    if report.when == "call" or report.outcome != "passed":
        if table.get(report.nodeid) != "failed":
            table[report.nodeid] = report.outcome


def pytest_collectreport(report):
    if report.failed:
        _outcomes["current"][report.nodeid] = "failed"


def _identity(node):
    """keras/src/ops/nn_test.py::Class::name, wherever the package is."""
    return node[node.rfind("keras/src/") :] if "keras/src/" in node else node


def read(path):
    lines = pathlib.Path(path).read_text().splitlines()
    return dict(reversed(line.split(" ", 1)) for line in lines)


def main():
    own = sys.argv[1:]
    rest = own[own.index("--") + 1 :] if "--" in own else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=[""])
    parser.add_argument("--write", help="write each test's outcome into this file")
    parser.add_argument("--against", help="compare with such a file")
    options = parser.parse_args(own[: own.index("--")] if "--" in own else own)
    package = pathlib.Path(importlib.util.find_spec("keras").origin).parent / "src"
    places = [str(package / folder) for folder in options.folders]
    sys.modules["keras_own_tests"] = sys.modules["__main__"]
    arguments = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        f"--rootdir={package.parent.parent}",
        "-o",
        "python_files=*_test.py",
        "--continue-on-collection-errors",
    ]
    status = pytest.main([*arguments, *rest, *places], plugins=[sys.modules["__main__"]])
    outcomes = {_identity(node): outcome for node, outcome in _outcomes["current"].items()}
    if options.write:
        pathlib.Path(options.write).write_text("".join(f"{o} {n}\n" for n, o in sorted(outcomes.items())))
    if options.against:
        theirs = read(options.against)
        worse = [
            n
            for n, o in theirs.items()
            if o == "passed" and outcomes.get(n, "passed" if rest else "absent") != "passed"
        ]
        print("".join(f"passes there, not here: {n} ({outcomes.get(n, 'absent')})\n" for n in sorted(worse)), end="")
        print(f"{sum(o == 'passed' for o in theirs.values())} pass there, {len(worse)} of them not here")
        return 1 if worse else 0
    return status


if __name__ == "__main__":
    sys.exit(main())
