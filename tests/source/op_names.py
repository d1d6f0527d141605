"""Op names in string literals outside src/ops: op_names.txt lists them by file, and the list may only shrink.

    python op_names.py REPOSITORY            fails on a name that the list does not have, or that it has and the file does not
    python op_names.py REPOSITORY --write    takes names off the list that are gone; never adds one

What an optimisation, tracing, batching or the compiler must know of an op is a trait of it (src/op/op_traits.h) or a rule beside it. A part of a
name that names are tested for counts too: `Stateless*` for name.starts_with("Stateless"), `*Dataset*` for name.find("Dataset"). The ops are those of
tests/ops/data/op_defs.bin and those that src/ops registers."""

import ast
import pathlib
import re
import struct
import sys

HERE = pathlib.Path(__file__).parent
ENGINE = ("src", "include", "python/native")
PYTHON = "python/weft/_src"
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
LIMIT = 60  # fewer distinct names than this in the engine, layers' names and words such as "None" included
# A comment, a character, or a string literal (group 2), perhaps what a name is tested to begin with, to end with or to hold (group 1).
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|(?:\b(starts_with|ends_with|r?find|contains)\()?"((?:\\.|[^"\\\n])*)\"""",
    re.S,
)
FORMS = {
    "starts_with": "{}*",
    "startswith": "{}*",
    "ends_with": "*{}",
    "endswith": "*{}",
    "removeprefix": "{}*",
    "removesuffix": "*{}",
}


def op_names(root):
    data = (root / "tests/ops/data/op_defs.bin").read_bytes()
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


class Ops:
    def __init__(self, names):
        self.names = names
        self.joined = "\n" + "\n".join(sorted(names)) + "\n"

    def part(self, text, test):
        """The part of names that such a test is about: a set of one; an empty one where no op has such a name."""
        form = FORMS.get(test, "*{}*")
        begin, end = ("" if form[0] == "*" else "\n"), ("" if form[-1] == "*" else "\n")
        about_ops = re.fullmatch(r"_?[A-Z]\w{2,}", text) and begin + text + end in self.joined
        return {form.format(text)} if about_ops else set()


def names_in_cpp(text, ops):
    out = set()
    for test, literal in TOKEN.findall(text):
        if literal in ops.names:
            out.add(literal)
        elif test:
            out |= ops.part(literal, test)
    return out


def names_in_python(text, ops):
    """Of literals; one may hold several names. A docstring is none."""
    out = set()
    tree = ast.parse(text)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            words = node.value.split()
            if words and all(word in ops.names for word in words):
                out.update(words)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FORMS:
            tested = [a for arg in node.args for a in (arg.elts if isinstance(arg, ast.Tuple) else [arg])]
            for a in tested:
                if isinstance(a, ast.Constant) and isinstance(a.value, str):
                    out |= ops.part(a.value, node.func.attr)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
                if node.left.value not in ops.names:
                    out |= ops.part(node.left.value, "in")
    return out


def found(root):
    ops = Ops(op_names(root))
    out = {}
    for place in (*ENGINE, PYTHON):
        for path in sorted((root / place).rglob("*")):
            name = path.relative_to(root).as_posix()
            if name.startswith(SKIPPED) or name.endswith(("_test.cc", "/testing.h")):
                continue
            if path.suffix in (".cc", ".h", ".inc"):
                names = names_in_cpp(path.read_text(), ops)
            elif path.suffix == ".py":
                names = names_in_python(path.read_text(), ops)
            else:
                continue
            if names:
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


def summary(files, where):
    distinct = set().union(*files.values()) if files else set()
    print(f"{where}: {len(distinct)} distinct op names in {len(files)} files, {sum(map(len, files.values()))} places")
    return len(distinct)


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
        head = "# Op names as string literals outside src/ops, by file (tests/source/op_names.py). The list only shrinks.\n"
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
    engine = {f: names for f, names in now.items() if not f.startswith(PYTHON)}
    too_many = summary(engine, "the engine") >= LIMIT
    if too_many:
        print(f"fewer than {LIMIT} distinct names are allowed there")
    summary({f: names for f, names in now.items() if f.startswith(PYTHON)}, "Python")
    summary(now, "both")
    sys.exit(too_many or any(new.values()) or any(gone.values()))


main()
