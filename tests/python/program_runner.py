"""The corpus of user programs in programs/ (and keras/): what belongs to it, how a program is run, how its output is compared."""

import fnmatch
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent / "programs"
TOOLS = {"calls", "record", "run", "survey"}
RELATIVE, ABSOLUTE = 2e-5, 1e-6

# TensorFlow wraps each eager op in a function and says so in front of some messages; that name is no part of the text.
_WRAPPER = re.compile(r"\{\{function_node __wrapped__[^}]*\}\} ?")
# Behind some messages it says the op's name (mostly none), depending on the way that the call took inside.
_TAIL = re.compile(r"(\[Op:\w+\])(?: name:(?: [\w/]*)?)?")
_NUMBER = r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?"
_TOKEN = re.compile(rf"(?<![\w.])(?:{_NUMBER})|\w+|[^\w\s]|\s+")
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?")


def has_keras():
    """Whether the package keras is installed; the folder keras/ beside this file is none."""
    found = importlib.util.find_spec("keras")
    return found is not None and found.origin is not None


def use_keras():
    """From here on the programs are those of keras/. They train models, which lets the last digits drift apart."""
    global FOLDER, RELATIVE, ABSOLUTE
    FOLDER, RELATIVE, ABSOLUTE = pathlib.Path(__file__).resolve().parent / "keras", 1e-4, 2e-5


def names(patterns=()):
    """Names of the programs that match one of the patterns (all, where there are none), sorted."""
    found = sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in TOOLS)
    if not patterns:
        return found
    return [n for n in found if any(fnmatch.fnmatch(n, p.removesuffix(".py")) for p in patterns)]


def known():
    """known.txt: {name: reason} of the programs that do not pass yet; the name `*` stands for all of them."""
    if not (FOLDER / "known.txt").exists():
        return {}
    lines = (FOLDER / "known.txt").read_text().splitlines()
    return dict(re.split(r":\s*", line, maxsplit=1) for line in lines if line and not line.startswith("#"))


def expected(name):
    return (FOLDER / f"{name}.out").read_text()


def package():
    """Where the programs find the package, from any folder: PYTHONPATH as it is set, else what `make build` lays out."""
    given = os.environ.get("PYTHONPATH") or str(pathlib.Path(__file__).resolve().parents[2] / "build" / "python")
    found = {"PYTHONPATH": os.pathsep.join(os.path.abspath(p) for p in given.split(os.pathsep))}
    if extension := os.environ.get("WEFT_EXTENSION_DIR"):
        found["WEFT_EXTENSION_DIR"] = os.path.abspath(extension)
    return found


def environment(folder=None):
    """HOME and TMPDIR are the folder, if one is given. Python's and the kernels' prints come in the order in which they were made: nothing is kept in a buffer."""
    own = dict(HOME=folder, TMPDIR=folder) if folder else {}
    return dict(
        os.environ, **own, **package(), PYTHONUNBUFFERED="1", PYTHONIOENCODING="utf-8", TF_CPP_MIN_LOG_LEVEL="3"
    )


def run(name, timeout=60):
    """Runs a program under weft, in a folder of its own. Gives (exit status, stdout, stderr); the status is None where time ran out."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return _run_in(folder, name, timeout)


def _run_in(folder, name, timeout):
    command = [sys.executable, "-m", "weft", str(FOLDER / f"{name}.py")]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(folder),
        cwd=folder,
        encoding="utf-8",
        errors="replace",
    )
    try:
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return None, out, err


def _same_token(want, got):
    if want == got:
        return True
    floats = [bool(_FLOAT.fullmatch(token)) for token in (want, got)]
    if not any(floats):
        return False
    try:
        a, b = float(want), float(got)
    except ValueError:
        return False
    # tf.print writes 1 for 1.0 and 0.99999994 for what is nearly that; but 1 for 1.0 elsewhere is another dtype.
    if a == b and not all(floats):
        return False
    return abs(a - b) <= ABSOLUTE + RELATIVE * abs(a)


def same_line(want, got):
    """Equal, or equal but for the last digits of floating point numbers (and the blanks that line those up)."""
    want, got = (_TAIL.sub(r"\1", _WRAPPER.sub("", s)) for s in (want, got))
    if want == got:
        return True
    if not _FLOAT.search(want):
        # Numpy lines up whole arrays: a row of zeros may have other blanks because of another row's digits.
        return False
    a, b = ([t for t in _TOKEN.findall(s) if not t.isspace()] for s in (want, got))
    return len(a) == len(b) and all(map(_same_token, a, b))


def difference(want, got, limit=12):
    """A list of lines that tells where two outputs part; empty where they agree."""
    a, b = want.splitlines(), got.splitlines()
    bad = [i for i in range(min(len(a), len(b))) if not same_line(a[i], b[i])]
    if not bad and len(a) == len(b):
        return []
    lines = []
    for i in bad[:limit]:
        lines += [f"{i + 1}- {a[i]}", f"{i + 1}+ {b[i]}"]
    if len(bad) > limit:
        lines.append(f"... {len(bad)} lines differ")
    if len(a) != len(b):
        lines.append(f"{len(a)} lines expected, {len(b)} printed")
        rest, sign = (a, "-") if len(a) > len(b) else (b, "+")
        start = min(len(a), len(b))
        lines += [f"{i + 1}{sign} {rest[i]}" for i in range(start, min(len(rest), start + 3))]
    return lines


def check(name, timeout=60):
    """Runs a program; a list of lines that tells what is wrong, empty where it passes."""
    status, out, err = run(name, timeout)
    lines = difference(expected(name), out)
    if status is None:
        lines.append(f"stopped after {timeout} s")
    elif status != 0:
        lines += [f"exit status {status}"] + complaint(name, err)
    return lines


def complaint(name, err):
    """The program's own line in a traceback and the error itself."""
    trace = err.strip().splitlines()
    own = [i for i, line in enumerate(trace) if f'{name}.py", line' in line]
    where = [line.strip() for line in trace[own[-1] : own[-1] + 2]] if own else []
    return [line.replace(str(FOLDER) + os.sep, "") for line in where] + trace[-1:]
