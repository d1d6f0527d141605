"""Records NAME.out, what each program prints under TensorFlow, for the programs that changed since the last time.

    python record.py PYTHON [-j N] [--all] [--check] [PATTERN ...]      PYTHON: an interpreter that has TensorFlow

Each program runs twice; one that does not print the same both times is not recorded. recorded.txt has the sums of the
programs as they were when recorded.
"""

import argparse
import concurrent.futures
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program_runner as programs  # noqa: E402

_ODD = re.compile(r"0x[0-9a-f]{6,}|/tmp/|" + re.escape(str(programs.FOLDER.parent)))
# oneDNN's kernels round otherwise and put their own names into messages.
SWITCHES = dict(TF_ENABLE_ONEDNN_OPTS="0")

# Imports TensorFlow once and forks for each program it is told: the import takes longer than most programs. Each runs in a new folder.
WORKER = """
import os, runpy, sys, tempfile, traceback
import tensorflow
for line in sys.stdin:
    path, out, err = line.rstrip("\\n").split("\\t")
    pid = os.fork()
    if pid == 0:
        for file, fd in ((out, 1), (err, 2)):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), fd)
        code = 0
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = folder
        try:
            sys.argv = [path]
            sys.path.insert(0, os.path.dirname(path))
            runpy.run_path(path, run_name="__main__")
        except SystemExit as e:
            code = e.code or 0
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        os._exit(code)
    status = os.waitpid(pid, 0)[1]
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


def digest(name):
    return hashlib.sha256((programs.FOLDER / f"{name}.py").read_bytes()).hexdigest()[:16]


def sums_file():
    return programs.FOLDER / "recorded.txt"


def read_sums():
    return dict(line.split() for line in sums_file().read_text().splitlines()) if sums_file().exists() else {}


class Worker:
    def __init__(self, python):
        self.lock = threading.Lock()
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        environment = programs.environment(self.folder.name) | SWITCHES
        self.process = subprocess.Popen([python, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment, cwd=self.folder.name, text=True)

    def run(self, name, folder):
        out, err = folder / f"{name}.stdout", folder / f"{name}.stderr"
        with self.lock:
            self.process.stdin.write(f"{programs.FOLDER / name}.py\t{out}\t{err}\n")
            self.process.stdin.flush()
            status = self.process.stdout.readline().strip()
        if not status:
            raise RuntimeError(f"{name}: the interpreter with TensorFlow went away")
        return int(status), out.read_text(), err.read_text()


def record(name, workers, turn, folder):
    """Runs the program twice and writes NAME.out; gives what is wrong, or None."""
    # Two processes: addresses and the order of sets differ between them.
    runs = [workers[(turn + i) % len(workers)].run(name, folder) for i in range(2)]
    for status, _, err in runs:
        if status != 0:
            return "\n".join([f"exit status {status}"] + err.strip().splitlines()[-8:])
    if runs[0][1] != runs[1][1]:
        return "\n".join(["two runs print different texts:"] + programs.difference(runs[0][1], runs[1][1], 4))
    odd = _ODD.search(runs[0][1])
    if odd:
        return f"prints an address or a path: {odd[0]}"
    (programs.FOLDER / f"{name}.out").write_text(runs[0][1])
    return None


def check(name, worker, folder):
    """Runs the program once and compares; gives what is wrong, or None."""
    status, out, err = worker.run(name, folder)
    if status != 0:
        return "\n".join([f"exit status {status}"] + err.strip().splitlines()[-8:])
    found = programs.difference((programs.FOLDER / f"{name}.out").read_text(), out, 4)
    return "\n".join(found) if found else None


def check_all(python, names, jobs):
    workers = [Worker(python) for _ in range(jobs)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        problems = list(pool.map(lambda i: check(names[i], workers[i % jobs], pathlib.Path(folder)), range(len(names))))
    for name, problem in zip(names, problems):
        if problem:
            print(f"NOT AS RECORDED {name}: {problem}")
    good = sum(not p for p in problems)
    print(f"TensorFlow prints what is recorded: {good} of {len(names)} programs")
    return good != len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python")
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="those that did not change, too")
    parser.add_argument("--check", action="store_true", help="record nothing: does TensorFlow print what is recorded?")
    parser.add_argument("--keras", action="store_true", help="the programs of keras/")
    options = parser.parse_intermixed_args()
    if options.keras:
        programs.use_keras()
    if options.check:
        return int(check_all(options.python, programs.names(options.patterns), options.jobs))

    sums = read_sums()
    chosen = [n for n in programs.names(options.patterns)
              if options.all or sums.get(n) != digest(n) or not (programs.FOLDER / f"{n}.out").exists()]
    wrong = 0
    if chosen:
        workers = [Worker(options.python) for _ in range(max(2, options.jobs))]
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            problems = pool.map(lambda i: record(chosen[i], workers, i, pathlib.Path(folder)), range(len(chosen)))
            for name, problem in zip(chosen, problems):
                if problem:
                    wrong += 1
                    print(f"NOT RECORDED {name}: {problem}", flush=True)
                else:
                    sums[name] = digest(name)
                    print(f"recorded {name}", flush=True)
    present = set(programs.names())
    sums_file().write_text("".join(f"{n} {s}\n" for n, s in sorted(sums.items()) if n in present))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
