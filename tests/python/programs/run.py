"""Runs programs under this Python's weft and says which print what TensorFlow prints.

    python run.py [-j N] [-q] [PATTERN ...]      e.g. python run.py 'ragged_*' tensors_basics
    python run.py --write-known                  writes known.txt: what does not pass, with where it stops
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program_runner as programs  # noqa: E402


def reason(lines):
    """One line for known.txt: the error that ended the program, or the first line that differs."""
    if any(line.startswith("exit status") for line in lines):
        why = lines[-1].strip()
    else:
        why = "prints " + next((line for line in lines if re.match(r"\d+\+ ", line)), lines[0])
    return re.sub(r" at 0x[0-9a-f]+", "", re.sub(r"\s+", " ", why))[:110]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="names of programs, * and ? allowed; all without any")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-q", "--quiet", action="store_true", help="no differences, only the names")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--write-known", action="store_true", help="(of all programs)")
    parser.add_argument("--keras", action="store_true", help="the programs of keras/")
    options = parser.parse_intermixed_args()
    if options.keras:
        programs.use_keras()

    chosen, known = programs.names(options.patterns), programs.known()
    reasons = {}
    failed, last = 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda name: programs.check(name, options.timeout), chosen)
        for name, lines in zip(chosen, results):
            listed = name in known
            print(("FAIL " if lines else "pass ") + name + (" (known)" if listed and lines else "")
                  + (" (listed in known.txt)" if listed and not lines else ""), flush=True)
            failed += bool(lines)
            if lines:
                reasons[name] = reason(lines)
            last.update(line for line in lines[-1:] if any(line.startswith("exit status") for line in lines))
            if lines and not options.quiet:
                print("".join(f"     {line[:200]}\n" for line in lines), end="", flush=True)
    if options.write_known and not options.patterns:
        text = "".join(f"{name}: {why}\n" for name, why in sorted(reasons.items()))
        (programs.FOLDER / "known.txt").write_text(text)
    if len(chosen) > 1 and last:
        print("ended by:\n" + "".join(f"{n:4} {line[:160]}\n" for line, n in last.most_common()), end="")
    print(f"{len(chosen) - failed} of {len(chosen)} pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
