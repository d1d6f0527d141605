"""The pages of docs/python: every ```python block is run, in order, and what it prints is in the block behind it.

pages.py check PAGE ...    with weft: does it print what the page says?
pages.py write PAGE ...    with TensorFlow (the pages' own measure): writes what it prints into the page"""

import contextlib
import io
import pathlib
import re
import sys

BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)


def outputs(text, source):
    """(code, expected, printed) for each block."""
    names = {"__name__": "__main__"}
    for i, match in enumerate(BLOCK.finditer(text)):
        out = io.StringIO()
        code = compile(match[1], f"{source}[{i}]", "exec")
        # Functions that are traced are read from their source.
        import linecache

        linecache.cache[f"{source}[{i}]"] = (len(match[1]), None, match[1].splitlines(True), f"{source}[{i}]")
        with contextlib.redirect_stdout(out):
            exec(code, names)
        yield match, out.getvalue()


def check(path):
    """Differences, as texts."""
    text = path.read_text()
    return [
        f"{path.name}: expected\n{m[2] or ''}got\n{got}"
        for m, got in outputs(text, path.name)
        if (m[2] or "").split() != got.split()
    ]


def write(path):
    text, at, made = path.read_text(), 0, ""
    for match, got in outputs(text, path.name):
        made += text[at : match.start()] + f"```python\n{match[1]}```\n" + (f"\n```text\n{got}```\n" if got else "")
        at = match.end()
    path.write_text(made + text[at:])


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("check", "write"):
        sys.exit(__doc__)
    if sys.argv[1] == "check":
        import weft.as_tensorflow  # noqa: F401
    problems = []
    for name in sys.argv[2:]:
        problems += [write(pathlib.Path(name))] if sys.argv[1] == "write" else check(pathlib.Path(name))
    print("\n".join(p for p in problems if p))
    sys.exit(any(problems))
