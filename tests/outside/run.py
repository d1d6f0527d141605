"""Runs libraries' own tests on weft and on TensorFlow and prints what passes there and not here.

    python tests/outside/run.py --folder FOLDER --tensorflow PYTHON_WITH_TENSORFLOW [SUITE | FILE ...] [--sources probability=CHECKOUT] [--seconds 900]

`--folder` keeps the packages (installed by name, without what they require) and the results; those of TensorFlow are not made again. `--weft` is an
interpreter that imports weft (build/venv/bin/python with PYTHONPATH). `--sources` is a checkout of the repository that a suite's test files come from
(suites.py, `tests_of`), where the package has none. Every file is a process of its own, with a time limit."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from suites import COMMON, SUITES

HERE = pathlib.Path(__file__).resolve().parent


def install(folder, names):
    """The packages of some suites, in FOLDER/site."""
    site, done = folder / "site", folder / "installed.txt"
    known = set(done.read_text().split()) if done.exists() else set()
    wanted = {p for name in names for p in (COMMON + " " + SUITES[name].packages).split()} - known
    if wanted:
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site), *sorted(wanted)]
        subprocess.run(command, check=True)
        done.write_text("\n".join(sorted(known | wanted)))
    return site


def lay_tests(site, suite, checkout):
    """Test files of a checkout beside the installed package."""
    for name in suite.files.split():
        target = site / name
        source = checkout / (name.replace("/src/", "/", 1) if suite.rename else name)
        if target.exists() or not source.exists():
            continue
        text = source.read_text()
        if suite.rename:
            text = re.sub(*suite.rename, text, flags=re.MULTILINE)
        target.write_text(text)


def outcomes(report):
    """{test: "passed", "skipped" or the first line of its error} of a file of results."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        skipped = case.find("skipped") is not None
        text = "passed" if not bad else (bad[0].get("message") or bad[0].tag).strip().split("\n")[0][:200] or "failed"
        found[f"{case.get('classname')}.{case.get('name')}"] = "skipped" if skipped and not bad else text
    return {re.sub(r"0x[0-9a-f]+", "0x", test): outcome for test, outcome in found.items()}


def run_file(python, prefix, site, name, work, seconds, path=()):
    """The outcomes of one file's tests."""
    work.mkdir(parents=True, exist_ok=True)
    report = work / (name.replace("/", ".") + ".xml")
    report.unlink(missing_ok=True)
    places = [*path, str(site), str(HERE)]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in places if p), TF_CPP_MIN_LOG_LEVEL="3")
    environment["TEST_TMPDIR"] = str(work / "tmp")
    command = [
        python,
        *prefix,
        "-m",
        "pytest",
        "-q",
        "-p",
        "absl_flags",
        "-p",
        "no:cacheprovider",
        f"--junitxml={report}",
        str(site / name),
    ]
    try:
        done = subprocess.run(command, cwd=work, env=environment, timeout=seconds, capture_output=True, text=True)
        tail = done.stdout[-300:] + done.stderr[-300:]
    except subprocess.TimeoutExpired:
        tail = f"no end within {seconds} s"
    shutil.rmtree(work / "tmp", ignore_errors=True)
    return outcomes(report) if report.exists() else {"(file)": "no results: " + " ".join(tail.split())[-200:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="suites, or files of them; all where none is given")
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--tensorflow", required=True, help="an interpreter with TensorFlow and pytest")
    parser.add_argument("--weft", default=sys.executable, help="an interpreter that imports weft")
    parser.add_argument("--sources", action="append", default=[], metavar="SUITE=CHECKOUT")
    parser.add_argument("--seconds", type=int, default=900, help="the time limit of one file")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        n: [f for f in s.files.split() if not options.what or n in options.what or f in options.what]
        for n, s in SUITES.items()
    }
    files = {name: chosen for name, chosen in files.items() if chosen}
    site = install(folder, files)
    for pair in options.sources:
        name, _, checkout = pair.partition("=")
        lay_tests(site, SUITES[name], pathlib.Path(checkout))
    own = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    own = [str(pathlib.Path(p).resolve()) for p in own]
    behind = 0
    for name, chosen in files.items():
        there_all = here_all = 0
        for file in chosen:
            kept = folder / "there" / (file.replace("/", ".") + ".json")
            if kept.exists():
                there = json.loads(kept.read_text())
            else:
                there = run_file(options.tensorflow, [], site, file, folder / "work_there", options.seconds)
                kept.parent.mkdir(exist_ok=True)
                kept.write_text(json.dumps(there, indent=1))
            here = run_file(options.weft, ["-m", "weft"], site, file, folder / "work_here", options.seconds, own)
            good = [test for test, outcome in there.items() if outcome == "passed"]
            missing = [test for test in good if here.get(test) != "passed"]
            there_all, here_all = there_all + len(good), here_all + len(good) - len(missing)
            print(f"{file}: {len(good) - len(missing)} of {len(good)}", flush=True)
            for test in missing:
                print(f"    {test.rpartition('.')[2]}: {here.get(test) or here.get('(file)') or 'not run'}", flush=True)
        print(f"{name}: {here_all} of {there_all} that pass on TensorFlow", flush=True)
        behind += there_all - here_all
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
