"""Fails where code searches, cuts or compares the text of an error: error_texts.txt lists the places that may, with their reasons, and may only shrink.
Fails, too, where another place than called_text of python/native/errors.cc writes "[Op:".

    python error_texts.py REPOSITORY

What code has to know of an error is structure: its code, Status::origin(), a note (src/core/error_notes.h), an attribute of the exception.
"""

import ast
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
CPP = ("src", "include/weft", "python/native")
PYTHON = "python/weft"
WAYS = "find|rfind|find_first_of|find_last_of|starts_with|ends_with|contains|compare|replace|erase|substr"
TEXT = r"(?:message|what)\(\)"
# "s.message().find(", "string_view(e.what()).find("; a number is the field of a message of the wire.
DIRECT = re.compile(rf"{TEXT}\)?\.(?:{WAYS})\((?!\d+\))")
# A variable that holds the text, or that is made of it.
HOLDS = re.compile(rf"\b(?:string|string_view|auto)&? (\w+)(?: = |\{{|\()[^;]*?\b{TEXT}")
METHODS = {
    "startswith",
    "endswith",
    "find",
    "rfind",
    "index",
    "count",
    "replace",
    "split",
    "rsplit",
    "partition",
    "rpartition",
}
METHODS |= {"removeprefix", "removesuffix", "splitlines"}


def in_cpp(text):
    """Lines of C++ that look into the text of an error."""
    lines = {text.count("\n", 0, m.start()) + 1 for m in DIRECT.finditer(text)}
    for held in HOLDS.finditer(text):
        end = text.find("\n}", held.end())  # of the function
        for m in re.finditer(rf"\b{held[1]}\.(?:{WAYS})\(", text[held.end() : end]):
            lines.add(text.count("\n", 0, held.end() + m.start()) + 1)
    return lines


class Errors(ast.NodeVisitor):
    """Lines of Python that look into the text of an exception, in one function."""

    def __init__(self):
        self.errors, self.lines = {"e", "err", "error", "exc", "exception"}, set()
        self.texts = {"message"}

    def is_text(self, node):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", None))
            if name in ("str", "repr"):
                return bool(node.args) and getattr(node.args[0], "id", None) in self.errors
            if name in ("lower", "upper", "strip"):
                return self.is_text(getattr(node.func, "value", None))
        if isinstance(node, ast.Attribute):
            return node.attr == "message" and getattr(node.value, "id", None) in self.errors
        if isinstance(node, ast.Subscript):
            return getattr(node.value, "attr", None) == "args" and getattr(node.value.value, "id", None) in self.errors
        if isinstance(node, ast.IfExp):
            return self.is_text(node.body) or self.is_text(node.orelse)
        return isinstance(node, ast.Name) and node.id in self.texts

    def visit_ExceptHandler(self, node):
        if node.name:
            self.errors.add(node.name)
        self.generic_visit(node)

    def visit_Assign(self, node):
        if self.is_text(node.value):
            self.texts |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        self.generic_visit(node)

    def visit_Compare(self, node):
        searches = any(isinstance(op, (ast.In, ast.NotIn, ast.Eq, ast.NotEq)) for op in node.ops)
        if searches and any(self.is_text(x) for x in (node.left, *node.comparators)):
            self.lines.add(node.lineno)
        self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute):
            of_text = node.func.attr in METHODS and self.is_text(node.func.value)
            if of_text or (getattr(node.func.value, "id", None) == "re" and any(self.is_text(a) for a in node.args)):
                self.lines.add(node.lineno)
        self.generic_visit(node)


def in_python(text):
    lines = set()
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            errors = Errors()
            errors.visit(function)
            lines |= errors.lines
    return lines


def found(root):
    out = {}
    for place in CPP:
        for path in sorted((root / place).rglob("*")):
            if path.suffix in (".cc", ".h", ".inc") and not path.name.endswith("_test.cc"):
                out[path.relative_to(root).as_posix()] = in_cpp(path.read_text())
    for path in sorted((root / PYTHON).rglob("*.py")):
        out[path.relative_to(root).as_posix()] = in_python(path.read_text())
    return {name: lines for name, lines in out.items() if lines}


def tags(root):
    """Files that write "[Op:"."""
    paths = [p for place in (*CPP, PYTHON) for p in (root / place).rglob("*") if p.suffix in (".cc", ".h", ".py")]
    return {
        p.relative_to(root).as_posix() for p in paths if "[Op:" in p.read_text() and not p.name.endswith("_test.cc")
    }


def check_itself():
    """What it is there to find."""
    for text in (
        'if (s.message().find("x") != npos) {}',
        'return std::string_view(e.what()).starts_with("x");',
        'void f() {\n  const std::string text = s.message();\n  if (text.find("x") > 0) g();\n}',
    ):
        assert in_cpp(text), text
    assert not in_cpp(
        "f.message().find(2); const std::string text = s.message();\n}\nbool g() { return text.find(1); }"
    )
    for line in (
        "'x' in str(e)",
        "e.message.startswith('x')",
        "re.search('x', str(e))",
        "text = str(e).lower()\n    'x' in text",
    ):
        assert in_python(f"def f(e):\n    {line}\n"), line
    assert not in_python("def f(e):\n    raise ValueError(str(e) + e.message)\n")


def main():
    check_itself()
    root = pathlib.Path(sys.argv[1])
    allowed = {}
    for line in (HERE / "error_texts.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, count, reason = line.split(maxsplit=2)
            assert reason, f"{name}: no reason"
            allowed[name.removesuffix(":")] = int(count)
    now, bad = found(root), False
    for name in sorted(now.keys() | allowed.keys()):
        lines = sorted(now.get(name, ()))
        if len(lines) > allowed.get(name, 0):
            print(
                f"{name}:{','.join(map(str, lines))}: looks into the text of an error: make what it has to know a note (src/core/error_notes.h)"
            )
        elif len(lines) < allowed[name]:
            print(f"{name}: {len(lines)} places, not {allowed[name]}: correct error_texts.txt, which may only shrink")
        bad |= len(lines) != allowed.get(name, 0)
    for name in sorted(tags(root) - {"python/native/errors.cc"}):
        print(f'{name}: writes "[Op:": called_text of python/native/errors.cc does')
        bad = True
    print(f"{sum(map(len, now.values()))} places in {len(now)} files look into texts of errors")
    sys.exit(bad)


main()
