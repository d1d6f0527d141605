"""Runs files of tests with pytest, each in a process forked from one that has imported the libraries already, and notes every test as it ends.

    python runner.py --site SITE --root ROOT --results FOLDER --imports tf_keras,... [--seconds 600] [--test-seconds 120] [--share 1.0] [--part 0] [--only TESTS] FILE ...

The results of ROOT/a/b_test.py are FOLDER/a.b_test.py.jsonl: a line {"test", "outcome", "seconds", "message"} for each, seconds of processor time in all threads;
the message of "(collected)" is how many tests the file has. A test in which the process ends, or which does not end, is noted as such, and a new process goes on behind it."""

import argparse
import ctypes
import importlib
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time
import zlib

import pytest


def name_of(item):
    """The name of a test, the same in every process."""
    return re.sub(r"0x[0-9a-f]+", "0x", item.nodeid.rpartition(".py::")[2])


def chosen(test, only, options):
    """Whether a test is of those to run: a list of names, or a share of all."""
    if only is not None:
        return test in only
    first = options.part * options.share * 1000
    return first <= zlib.crc32(test.encode()) % 1000 < first + options.share * 1000


class Notes:
    """A plugin of pytest that writes the results."""

    def __init__(self, path, options, only):
        self.path, self.options, self.only = path, options, only
        self.known = {line["test"] for line in read(path)}
        self.file = path.open("a")

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def pytest_collection_modifyitems(self, items):
        if "(collected)" not in self.known:
            self.write(test="(collected)", outcome="collected", seconds=0, message=str(len(items)))
        items[:] = [
            item for item in items if name_of(item) not in self.known and chosen(name_of(item), self.only, self.options)
        ]

    def pytest_collection_finish(self, session):
        """Programs' flags have their defaults, as when a test file is run by itself."""
        from absl import flags

        flags.FLAGS(["test"], known_only=True)

    def pytest_collectreport(self, report):
        if report.failed and "(file)" not in self.known:
            self.write(test="(file)", outcome="error", seconds=0, message=last_line(report.longrepr))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self.reports = []
        self.write(test=name_of(item), outcome="begun")
        start = time.process_time()
        yield
        bad = [r for r in self.reports if r.failed]
        skipped = any(r.skipped for r in self.reports)
        outcome = "failed" if bad else "skipped" if skipped else "passed"
        message = last_line(bad[0].longrepr) if bad else ""
        self.write(test=name_of(item), outcome=outcome, seconds=round(time.process_time() - start, 3), message=message)

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)


def last_line(representation):
    """What an error says, in a line."""
    crash = getattr(representation, "reprcrash", None)
    text = crash.message if crash else "\n".join(str(representation).strip().splitlines()[-1:])
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()] or ["failed"]
    if lines[0].endswith("in user code:"):
        lines = [lines[0], *lines[-2:]]  # a traceback: what is raised is at its end
    return " | ".join(lines[:6])[:400]


def read(path):
    """The results of a file: the last line of each test counts."""
    if not path.exists():
        return []
    found = {}
    for text in path.read_text().splitlines():
        line = json.loads(text)
        found[line["test"]] = line
    return list(found.values())


def child(file, path, options):
    """What the forked process does."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: not without the parent
    work = options.work
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.chdir(options.root if options.in_root else work)
    os.setpgid(0, 0)
    log = os.open(options.work.with_suffix(".txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["pytest", file]
    arguments = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(options.root),
        "--tb",
        "short",
        str(options.root / file),
    ]
    pytest.main(arguments, plugins=[Notes(path, options, names_of(file, options))])
    sys.stdout.flush()
    os._exit(0)


def used(process):
    """Seconds of processor time that a process has taken."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait(process, path, seconds, test_seconds):
    """ "ended", or what was wrong, of a process that works on a file. Limits are of processor time; who takes none for long waits for nothing."""
    note, since, seen = -1, 0, time.time()
    while True:
        done, status, _ = os.wait4(process, os.WNOHANG)
        if done:
            return "ended" if status == 0 else f"process ended with status {status}"
        now = used(process)
        if path.stat().st_size != note:
            note, since, seen = path.stat().st_size, now, time.time()
        late = now > seconds
        if late or now - since > test_seconds or time.time() - seen > 5 * test_seconds:
            os.killpg(process, signal.SIGKILL)
            os.wait4(process, 0)
            return "no time left" if late else f"no end within {test_seconds} s"
        time.sleep(0.05)


def without_local_constants():
    """hypothesis reads the source of every module outside of site-packages for constants, in each process again: minutes for what --site holds, and more
    here than on TensorFlow, which is in site-packages."""
    if "hypothesis" in sys.modules:
        from hypothesis.internal.conjecture import providers

        providers._get_local_constants = lambda: providers._local_constants


def results_of(file, options):
    return options.results / (file.replace("/", ".") + ".jsonl")


def names_of(file, options):
    """The list of a file's tests that are to run, where there is one."""
    return None if options.only is None else set(options.only.get(file, []))


def forget_failed(path, only, options):
    """Takes away the results of the chosen tests that did not pass."""
    good = ("passed", "skipped", "collected")
    kept = [line for line in read(path) if line["outcome"] in good or not chosen(line["test"], only, options)]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept))


def run(file, options):
    """All tests of a file."""
    path = results_of(file, options)
    if options.add:
        forget_failed(path, names_of(file, options), options)
    elif options.only is None:
        path.unlink(missing_ok=True)
    path.touch()
    what = ""
    for _ in range(20):
        process = os.fork()
        if process == 0:
            try:
                child(file, path, options)
            finally:
                os._exit(1)
        what = wait(process, path, options.seconds, options.test_seconds)
        open_ones = [line for line in read(path) if line["outcome"] == "begun"]
        with path.open("a") as notes:
            for line in open_ones:
                notes.write(
                    json.dumps({"test": line["test"], "outcome": "unfinished", "seconds": 0, "message": what}) + "\n"
                )
        if what in ("ended", "no time left") or not open_ones:
            break
    results = read(path)
    passed = sum(line["outcome"] == "passed" for line in results)
    results = [line for line in results if line["outcome"] != "collected"]
    seconds = sum(line.get("seconds", 0) for line in results)
    print(
        f"{file}: {passed} of {len(results)} passed, {seconds:.0f} s{'' if what == 'ended' else ', ' + what}",
        flush=True,
    )
    with path.open("a") as notes:
        notes.write(json.dumps({"test": "(end)", "outcome": what, "seconds": 0, "message": ""}) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--site", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, help="where the test files are, if not below SITE")
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--in-root", action="store_true", help="the tests are run there")
    parser.add_argument("--imports", default="")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--test-seconds", type=float, default=120)
    parser.add_argument("--new", action="store_true", help="only files that have no results yet")
    parser.add_argument("--add", action="store_true", help="beside the tests that passed in earlier runs")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--part", type=int, default=0, help="which of the shares")
    parser.add_argument(
        "--only",
        type=pathlib.Path,
        help="a file of JSON with the names of tests by file: these, beside the results that are there",
    )
    options = parser.parse_args()
    options.only = json.loads(options.only.read_text()) if options.only else None
    options.work = options.results / f"work{os.getpid()}"
    os.environ["TEST_TMPDIR"] = str(options.work / "tmp")
    sys.path.insert(0, str(options.site))
    if options.root:
        sys.path.insert(0, str(options.root))
    options.root = options.root or options.site
    for name in filter(None, options.imports.split(",")):
        importlib.import_module(name)
    without_local_constants()
    for file in options.files:
        if not (options.new and any(line["test"] == "(end)" for line in read(results_of(file, options)))):
            run(file, options)
    shutil.rmtree(options.work, ignore_errors=True)


if __name__ == "__main__":
    main()
