"""What the programs still miss: runs them statement by statement, goes on after errors, and counts the errors.

    python survey.py [-j N] [PATTERN ...]      (a statement that needs a failed one before it is not counted)
"""

import ast
import collections
import concurrent.futures
import argparse
import pathlib
import subprocess
import sys

MARK = "survey!"


def step(path):
    """In the child: executes the top-level statements of a program, one by one."""
    namespace = {"__name__": "__main__", "__file__": path}
    failed = set()
    for node in ast.parse(pathlib.Path(path).read_text(), path).body:
        try:
            exec(compile(ast.Module([node], []), path, "exec"), namespace)
        except Exception as e:
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            if not (isinstance(e, NameError) or names & failed):
                text = [line.strip() for line in str(e).splitlines() if line.strip()] or [""]
                print(f"{MARK}{node.lineno}\t{type(e).__name__}: {text[-1] if text[0] == 'in user code:' else text[0]}")
            failed |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            failed |= {getattr(node, "name", None)}


def survey(name):
    import program_runner as programs
    command = [sys.executable, "-m", "weft", __file__, "--step", str(programs.FOLDER / f"{name}.py")]
    try:
        out = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120,
                             stdin=subprocess.DEVNULL, env=programs.environment()).stdout
    except subprocess.TimeoutExpired:
        return [f"0\t{name} runs out of time"]
    return [line.split(MARK, 1)[1] for line in out.splitlines() if MARK in line]


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    import program_runner as programs
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_intermixed_args()
    chosen = programs.names(options.patterns)
    errors = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, lines in zip(chosen, pool.map(survey, chosen)):
            for line in lines:
                number, text = line.split("\t", 1)
                errors[text[:200]].append(f"{name}:{number}")
    for text, places in sorted(errors.items(), key=lambda item: -len(item[1])):
        print(f"{len(places):3}  {text}\n     {' '.join(places[:6])}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        step(sys.argv[2])
    else:
        sys.exit(main())
