"""Formats and checks the sources with the tools and versions that the project pins: make format, make lint, .ci/run.

    code_style.py format [--all]                  rewrites files in place
    code_style.py check [--all]                   fails if formatting would change a file, or if ruff reports something
    code_style.py tidy [--all] --build BUILD      clang-tidy over C++ files, with the compile commands of a build folder

Without --all: files that differ from main, committed or not. A tool that is missing or has another version is named in the output, and its
files are not checked; with --strict that is an error.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG = "19"
RUFF = re.search(r"^ruff==(\S+)", (ROOT / "python/requirements-dev.txt").read_text(), re.M)[1]
CPP = (".cc", ".h", ".c", ".inc")


def git(*args):
    return subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", ROOT, *args], capture_output=True, text=True
    ).stdout.splitlines()


def files(everything):
    """Paths of sources, relative to the repository: all, or those that differ from main."""
    names = git("ls-files", "-co", "--exclude-standard")
    if not everything:
        base = (git("merge-base", "HEAD", "main") or ["HEAD"])[0]
        changed = set(git("diff", "--name-only", base)) | set(git("ls-files", "-o", "--exclude-standard"))
        names = [n for n in names if n in changed]
    return [n for n in names if (ROOT / n).is_file() and not (ROOT / n).is_symlink()]


def found(names, version):
    """The first of the programs that has the version; else says what is missing."""
    for name in names:
        program = shutil.which(name)
        if program:
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"\b{re.escape(version)}(\.|\s|$)", said):
                return program
    print(f"style: {names[0]} {version} is not installed: its files were NOT checked (make lint installs it)")
    return None


def run(command, names):
    """Runs the command over the files, fifty at a time; not 0 if a run failed."""
    bad = 0
    for at in range(0, len(names), 50):
        bad |= subprocess.run([*command, *names[at : at + 50]], cwd=ROOT).returncode
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["format", "check", "tidy"])
    parser.add_argument("--all", action="store_true", help="all files, not only those that differ from main")
    parser.add_argument("--build", default="build/dev", help="folder with compile_commands.json (tidy)")
    parser.add_argument("--strict", action="store_true", help="a missing tool is an error")
    parser.add_argument("paths", nargs="*", help="only these files")
    args = parser.parse_args()
    names = args.paths or files(args.all)
    cpp = [n for n in names if n.endswith(CPP)]
    python = [n for n in names if n.endswith(".py")]
    bad, missing = 0, False

    if args.action == "tidy":
        tidy = found([f"clang-tidy-{CLANG}", "clang-tidy"], CLANG)
        units = [n for n in cpp if n.endswith((".cc", ".c"))]
        if tidy and not (ROOT / args.build / "compile_commands.json").exists():
            sys.exit(f"style: {args.build} has no compile_commands.json: run make dev")
        if tidy and units:
            bad |= run([tidy, "-p", args.build, "--quiet", "--warnings-as-errors=*"], units)
        print(f"clang-tidy: {len(units) if tidy else 0} files")
        sys.exit(1 if bad or (args.strict and not tidy) else 0)

    clang = found([f"clang-format-{CLANG}", "clang-format"], CLANG)
    os.environ["PATH"] = f"{ROOT}/build/lint/bin:{os.environ['PATH']}"
    ruff = found(["ruff"], RUFF)
    missing = not clang or not ruff
    if clang and cpp:
        bad |= run(
            [clang, "-i"] if args.action == "format" else [clang, "--dry-run", "--Werror", "--ferror-limit=1"], cpp
        )
    if ruff and python:
        bad |= run(
            [ruff, "format", "--quiet", "--force-exclude"] + ([] if args.action == "format" else ["--check"]), python
        )
        if args.action == "check":
            bad |= run([ruff, "check", "--quiet", "--force-exclude"], python)
    print(
        f"{args.action}: {len(cpp) if clang else 0} C++ and {len(python) if ruff else 0} Python files"
        + ("" if not bad else "; run make format")
    )
    sys.exit(1 if bad or (args.strict and missing) else 0)


if __name__ == "__main__":
    main()
