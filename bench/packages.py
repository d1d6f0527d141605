"""What benchmarks of weft beside TensorFlow share: which packages they miss before they start, and how to get them; one package in a process of its own; the wire format."""

import os
import pathlib
import subprocess
import sys

# What the package is called where it is installed from, when that is not the name of its module.
DISTRIBUTIONS = {"tensorflow": "tensorflow-cpu", "weft": "(weft: make build, then PYTHONPATH=build/python)"}
FIND = "import importlib.util, sys; print(*[m for m in sys.argv[1:] if not importlib.util.find_spec(m)])"


def need(*modules, python=sys.executable):
    """Ends the program with one line where the interpreter `python` lacks one of the modules. No interpreter: nothing was asked for."""
    if not python:
        return
    try:
        found = subprocess.run([*str(python).split(), "-c", FIND, *modules], capture_output=True, text=True)
    except OSError as e:
        sys.exit(f"{sys.argv[0]}: cannot run {python}: {e.strerror}")
    if found.returncode:
        sys.exit(f"{sys.argv[0]}: {python} is not a Python interpreter: {found.stderr.strip().splitlines()[-1:]}")
    if missing := found.stdout.split():
        names = " ".join(DISTRIBUTIONS.get(m, m) for m in missing)
        sys.exit(f"{sys.argv[0]}: {python} lacks {', '.join(missing)}; install with: {python} -m pip install {names}")


def environment(package):
    """Of a process that uses `package`: weft is taken from build/python, or WEFT_PACKAGE."""
    variables = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    variables.pop("PYTHONPATH", None)
    if package == "weft":
        root = pathlib.Path(__file__).resolve().parent.parent
        variables["PYTHONPATH"] = os.environ.get("WEFT_PACKAGE", str(root / "build/python"))
    return variables


class Side:
    """A package in a process that waits for its turn: it says a line when it is ready, and answers each line with a number, or `error` and why."""

    def __init__(self, package, command):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment(package)
        )
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{sys.argv[0]}: {' '.join(self.process.args)} ended with status {self.process.wait()}")
        return line.strip()

    def ask(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.answer()
        return answer if answer.startswith("error") else float(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def varint(value):
    """A number as protobuf writes it."""
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(tag, data):
    """A field of text, bytes or a message."""
    return bytes([tag << 3 | 2]) + varint(len(data)) + data
