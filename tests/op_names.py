"""Op names in string literals outside src/ops: op_names.txt lists them by file, and the list may only shrink.

    python op_names.py REPOSITORY            fails on a name that the list does not have, or that it has and the file does not
    python op_names.py REPOSITORY --write    takes names off the list that are gone; never adds one

What an optimisation, tracing, batching or the compiler must know of an op is a trait of it (src/op/op_traits.h) or a rule beside it.
The ops are those of tests/ops/data/op_defs.bin and those that src/ops registers.
"""

import pathlib
import re
import struct
import sys

HERE = pathlib.Path(__file__).parent
PLACES = ("src", "include", "python/native")
# Op wrappers are named after their ops, and so are the operators of weft/op.h and TensorFlow's shape functions of an op; schemagen writes words of C++.
SKIPPED = (
    "src/ops/",
    "src/opgen/",
    "src/wire/schemagen/",
    "include/tensorflow/cc/",
    "include/tensorflow/core/framework/common_shape_fns.h",
    "include/tensorflow/core/framework/function_def_helper.h",
    "include/tensorflow/core/graph/",
    "include/weft/op.h",
)
LIMIT = 60  # fewer distinct names than this, layers' names and words such as "None" included
# A comment, a character, or a string literal (group 1).
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])'|"((?:\\.|[^"\\\n])*)\"""", re.S)


def op_names(root):
    data = (HERE / "ops/data/op_defs.bin").read_bytes()
    names, at = set(), 0
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        record = data[at + 4 : at + 4 + length]
        assert record[0] == 0x0A and record[1] < 0x80, "an OpDef starts with its name"
        names.add(record[2 : 2 + record[1]].decode())
        at += 4 + length
    for path in (root / "src/ops").rglob("*.cc"):
        names.update(re.findall(r'\br\.add\("(\w+)"\)', path.read_text()))
    return names


def names_in(text, ops):
    return {literal for literal in TOKEN.findall(text) if literal in ops}


def found(root):
    ops = op_names(root)
    out = {}
    for place in PLACES:
        for path in sorted((root / place).rglob("*")):
            name = path.relative_to(root).as_posix()
            if (
                path.suffix not in (".cc", ".h", ".inc")
                or name.endswith(("_test.cc", "/testing.h"))
                or name.startswith(SKIPPED)
            ):
                continue
            if names := names_in(path.read_text(), ops):
                out[name] = names
    return out


def read_list(path):
    out = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, count, *names = line.replace(":", "").split()
            assert int(count) == len(names), f"{name}: {count} is not the count of its names"
            out[name] = set(names)
    return out


def main():
    root, allowed_path = pathlib.Path(sys.argv[1]), HERE / "op_names.txt"
    now = found(root)
    first = not allowed_path.exists()
    allowed = now if first else read_list(allowed_path)
    new = {f: names - allowed.get(f, set()) for f, names in now.items()}
    gone = {f: names - now.get(f, set()) for f, names in allowed.items()}
    if "--write" in sys.argv:
        kept = {f: names & allowed.get(f, set()) for f, names in now.items()}
        lines = [f"{f}: {len(names)} {' '.join(sorted(names))}" for f, names in sorted(kept.items()) if names]
        head = "# Op names as string literals outside src/ops, by file (tests/op_names.py). The list only shrinks.\n"
        allowed_path.write_text(head + "".join(line + "\n" for line in lines))
        gone = {}
    for f, names in sorted(new.items()):
        if names:
            print(f"{f}: names {', '.join(sorted(names))}: make it a trait or a rule of the op (src/op/op_traits.h)")
    for f, names in sorted(gone.items()):
        if names:
            print(
                f"{f}: no longer names {', '.join(sorted(names))}: take it off the list with {HERE.name}/op_names.py . --write"
            )
    distinct = set().union(*now.values()) if now else set()
    too_many = len(distinct) >= LIMIT
    if too_many:
        print(f"fewer than {LIMIT} distinct names are allowed")
    print(f"{len(distinct)} distinct op names in {len(now)} files, {sum(map(len, now.values()))} places")
    sys.exit(too_many or any(new.values()) or any(gone.values()))


main()
