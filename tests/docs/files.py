"""Pages name only files that exist: their links, and paths of the tree in `code`.

A path is looked for beside the page, below the folders that pages leave out of paths, and among the headers that the build writes.
Blocks of code are not looked at: commands.py runs them.
"""

import pathlib
import re
import sys

ENDINGS = ("cc", "h", "inc", "py", "md", "cmake", "csv", "sh", "txt", "svg", "json", "proto", "yaml", "supp", "map")
TOP = ("src", "tests", "bench", "examples", "docs", "cmake", "proto")
PAGES = ("*.md", *(f"{folder}/**/*.md" for folder in (*TOP, "python", "include")))
LEFT_OUT = (
    ".",
    "src",
    "src/ops",
    "src/kernels/cpu",
    "python",
    "python/weft",
    "python/weft/_src",
    "python/native",
    "tests",
    "tests/ops",
    "include",
    "include/weft",
)
TENSORFLOW = (
    "",
    "core",
    "c",
    "c/experimental",
    "cc",
)  # folders of include/tensorflow that pages about its headers leave out
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`([\w.+-]+(?:/[\w.+-]+)+/?)`")


def is_path(text):
    return text.rsplit(".", 1)[-1] in ENDINGS or text.split("/")[0] in TOP


def main():
    root, generated = map(pathlib.Path, sys.argv[1:])
    headers = pathlib.Path("include/tensorflow")
    places = [root / folder for folder in LEFT_OUT] + [root / headers / folder for folder in TENSORFLOW]
    places += [generated, *(generated / "tensorflow" / folder for folder in TENSORFLOW)]
    aliases = (root / "cmake/header_aliases.txt").read_text()
    aliases = {header for line in aliases.splitlines() if not line.startswith("#") for header in line.split()}

    def exists(page, path):
        if any((place / path).exists() for place in (page.parent, *places)):
            return True
        return any((pathlib.Path("tensorflow") / folder / path).as_posix() in aliases for folder in TENSORFLOW)

    count = wrong = 0
    for page in sorted(page for pattern in PAGES for page in root.glob(pattern)):
        count += 1
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        missing = [link for link in LINK.findall(text) if "://" not in link and not (page.parent / link).exists()]
        missing += [path for path in PATH.findall(text) if is_path(path) and not exists(page, path)]
        for name in missing:
            wrong += 1
            print(f"{page.relative_to(root)}: there is no {name}")
    print(f"{count} pages, {wrong} names of files that do not exist")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
