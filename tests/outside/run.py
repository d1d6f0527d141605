"""Runs libraries' own tests on weft and on TensorFlow and prints what passes there and not here.

    python tests/outside/run.py --folder FOLDER --tensorflow PYTHON_WITH_TENSORFLOW [SUITE | FILE ...] [--sources probability=CHECKOUT] [--share 0.1]

`--folder` keeps the packages (installed by name, without what they require) and the results; those of TensorFlow are not made again. `--weft` is an
interpreter that imports weft (build/venv/bin/python with PYTHONPATH). `--sources` is a checkout of the repository that a suite's test files come from
(suites.py, `tests_of`), where the package has none. `--share` takes a part of each file's tests, always the same; `--part` another one. With `--failing`,
TensorFlow runs only what does not pass on weft: enough to know what is behind, not for times. With `--add`, tests that passed on weft in earlier runs with this
folder are not run again and count; `--again` runs only those that did not pass. runner.py runs the files."""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

from runner import read
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
    for pattern in (suite.files + " " + suite.helpers).split():
        for source in checkout.glob(pattern.replace("/src/", "/", 1) if suite.rename else pattern):
            name = source.relative_to(checkout)
            target = site / name.parts[0] / "src" / pathlib.Path(*name.parts[1:]) if suite.rename else site / name
            if target.exists() or not target.parent.exists():
                continue
            text = source.read_text()
            if suite.rename:
                text = re.sub(*suite.rename, text, flags=re.MULTILINE)
            target.write_text(text)


def lay_apart(folder, suite, checkout):
    """Test files of a checkout in a folder of their own, without the packages around them."""
    for pattern in suite.files.split():
        for source in checkout.glob(pattern):
            target = folder / source.relative_to(checkout)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())


def files_of(suite, root, what):
    """The suite's files, as names below root."""
    found = sorted({p.relative_to(root).as_posix() for pattern in suite.files.split() for p in root.glob(pattern)})
    found = [f for f in found if not any(fnmatch.fnmatch(f, pattern) for pattern in suite.without.split())]
    return [f for f in found if what is None or f in what]


def run(python, prefix, path, results, suite, site, root, files, options, new=False, only=None, add=False):
    """The runner on some files, in a process of its own."""
    results.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", **suite.environment)
    environment["PYTHONPATH"] = os.pathsep.join([*path, str(HERE)])
    command = [python, *prefix, str(HERE / "runner.py"), "--site", str(site), "--results", str(results)]
    command += ["--imports", suite.imports, "--seconds", str(options.seconds), "--share", str(options.share)]
    command += ["--test-seconds", str(options.test_seconds), "--part", str(options.part)]
    command += ["--only", str(only)] if only else []
    command += ["--add"] if add else []
    command += ["--root", str(root)] if suite.root or suite.apart else []
    command += ["--in-root"] if suite.root else []
    subprocess.run(
        [*command, *(["--new"] if new else []), *files],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def name_of(file):
    return file.replace("/", ".") + ".jsonl"


def failing(here, there, files):
    """Tests that do not pass here, by file, without those that have a result there."""
    tests = {}
    for file in files:
        known = {line["test"] for line in read(there / name_of(file))} if there else ()
        results = read(here / name_of(file))
        tests[file] = [
            r["test"] for r in results if r["outcome"] in ("failed", "unfinished") and r["test"] not in known
        ]
    return {file: names for file, names in tests.items() if names}


def compare(suite, there, here, files, partly=False):
    """What passes there and not here, by what the error says: ([(message, tests, reason)], number there, seconds there and here, slow tests)."""
    kinds, good, seconds, slow = collections.defaultdict(list), 0, [0, 0], []
    for file in files:
        name = name_of(file)
        results = {line["test"]: line for line in read(here / name)}
        known = {line["test"] for line in read(there / name)}
        if partly:
            good += sum(line["outcome"] == "passed" and line["test"] not in known for line in results.values())
        for line in read(there / name):
            if partly and line["test"] not in results and "(file)" not in results:
                continue
            if line["outcome"] != "passed":
                continue
            good += 1
            own = results.get(line["test"]) or results.get("(file)") or {"outcome": "not run", "message": "not run"}
            if own["outcome"] != "passed":
                kinds[own.get("message") or own["outcome"]].append(f"{file}::{line['test']}")
                continue
            both = line["seconds"], own["seconds"]
            seconds = [a + b for a, b in zip(seconds, both)]
            if both[1] > 1.5 * both[0] + 0.3:
                slow.append((f"{file}::{line['test']}", *both))
    reason = lambda test: next((why for pattern, why in suite.reasons.items() if fnmatch.fnmatch(test, pattern)), "")  # noqa: E731
    listed = [(message, tests, reason(tests[0])) for message, tests in kinds.items()]
    return sorted(listed, key=lambda kind: -len(kind[1])), good, seconds, sorted(slow, key=lambda s: s[1] - s[2])


def covered(here, files):
    """How many tests have a result here, and how many the files have."""
    ran = collected = 0
    for file in files:
        lines = read(here / name_of(file))
        ran += sum(line["outcome"] in ("passed", "failed", "skipped", "unfinished") for line in lines)
        collected += sum(int(line["message"]) for line in lines if line["outcome"] == "collected")
    return ran, collected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="suites, or files of them; all where none is given")
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--tensorflow", required=True, help="an interpreter with TensorFlow and pytest")
    parser.add_argument("--weft", default=sys.executable, help="an interpreter that imports weft")
    parser.add_argument("--sources", action="append", default=[], metavar="SUITE=CHECKOUT")
    parser.add_argument("--seconds", type=int, default=600, help="processor time of one file")
    parser.add_argument("--test-seconds", type=int, default=120, help="and of one test")
    parser.add_argument("--share", type=float, default=1.0, help="of each file's tests")
    parser.add_argument("--part", type=int, default=0, help="which of these shares")
    parser.add_argument("--failing", action="store_true", help="on TensorFlow only what does not pass on weft")
    parser.add_argument("--add", action="store_true", help="beside the tests that passed in earlier runs")
    parser.add_argument("--again", action="store_true", help="on weft only what did not pass in earlier runs")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    whole = [name for name in SUITES if not options.what or name in options.what]
    single = [f for f in options.what if f not in SUITES]
    site = install(folder, whole if not single else SUITES)
    checkouts = {}
    for pair in options.sources:
        name, _, checkout = pair.partition("=")
        checkouts[name] = pathlib.Path(checkout).resolve()
        if SUITES[name].apart:
            lay_apart(folder / "apart", SUITES[name], checkouts[name])
        elif not SUITES[name].root:
            lay_tests(site, SUITES[name], checkouts[name])
    own = [str(pathlib.Path(p).resolve()) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    behind = 0
    for name, suite in SUITES.items():
        root = folder / "apart" if suite.apart else checkouts.get(name, folder) if suite.root else site
        if name in checkouts:
            os.environ["WEFT_TESTS_CHECKOUT"] = str(checkouts[name])  # private_names.py
        files = files_of(suite, root, None if name in whole else single)
        if not files:
            continue
        there, here = folder / "there", folder / "here"
        if not options.failing:
            run(options.tensorflow, [], [], there, suite, site, root, files, options, new=True)
        only = None
        if options.again:
            tests = failing(here, None, files)
            only = folder / f"again.{name}.json"
            only.write_text(json.dumps(tests))
        again = list(tests) if options.again else files
        run(
            options.weft,
            ["-m", "weft"],
            own,
            here,
            suite,
            site,
            root,
            again,
            options,
            only=only,
            add=options.add or options.again,
        )
        if options.failing:
            tests = failing(here, there, files)
            only = folder / f"failing.{name}.json"
            only.write_text(json.dumps(tests))
            run(options.tensorflow, [], [], there, suite, site, root, list(tests), options, only=only)
        kinds, good, seconds, slow = compare(suite, there, here, files, options.failing)
        missing = sum(len(tests) for _, tests, _ in kinds)
        ran, collected = covered(here, files)
        print(f"{name}: {ran} of {collected} tests of {len(files)} files were run on weft")
        print(
            f"{name}: {good - missing} of {good} that pass on TensorFlow; {seconds[0]:.0f} s there, {seconds[1]:.0f} s here"
        )
        for message, tests, reason in kinds:
            print(
                f"    {len(tests)} {message}{' [' + reason + ']' if reason else ''}",
                *tests,
                sep="\n        ",
                flush=True,
            )
        for test, before, after in slow[:10]:
            print(f"    slow: {test}: {before:.1f} s there, {after:.1f} s here", flush=True)
        behind += missing
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
