"""weft/ outside weft/_src only names things: imports, tables of names that are loaded when first used, and their lookup."""

import ast
import pathlib

import weft

FOLDER = pathlib.Path(weft.__file__).parent
# Modules that do something: the lookup itself, programs, and what makes `tensorflow` mean weft.
EXCEPTIONS = {"__init__.py", "__main__.py", "as_tensorflow.py"}
LOOKUP = {"__getattr__", "__dir__"}


def definitions(path):
    """Functions and classes that a module defines, but for those that look up names."""
    found = [n.name for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    return [name for name in found if name not in LOOKUP]


def public_modules():
    return [
        path
        for path in sorted(FOLDER.rglob("*.py"))
        if path.relative_to(FOLDER).parts[0] not in ("_src", "include")
        and str(path.relative_to(FOLDER)) not in EXCEPTIONS
    ]


def test_public_modules_define_nothing():
    modules = public_modules()
    assert len(modules) > 50
    assert {str(p.relative_to(FOLDER)): d for p in modules if (d := definitions(p))} == {}


def test_exceptions_are_there():
    assert {name for name in EXCEPTIONS if definitions(FOLDER / name)} == EXCEPTIONS
