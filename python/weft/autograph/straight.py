"""Conversion of functions without control flow: only their calls are rewritten.

Most functions are of this kind. Their code keeps the user's file and lines, and the large machinery of malt is neither
needed nor loaded.
"""

import __future__

import ast
import functools
import inspect
import operator
import textwrap
import threading
import types
import weakref
from typing import NamedTuple

# Code with these needs malt: statements and expressions that a tensor may decide, and what malt refuses.
_NOT_STRAIGHT = (ast.If, ast.For, ast.While, ast.IfExp, ast.BoolOp, ast.Not, ast.Match, ast.ClassDef, ast.Yield,
                 ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef)
_FUTURES = functools.reduce(operator.or_,
                            (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))
_DEBUGGERS = ("pdb.set_trace", "ipdb.set_trace", "breakpoint")


class _Location(NamedTuple):
    filename: str
    lineno: int


class _Origin(NamedTuple):
    loc: _Location
    function_name: str
    source_code_line: str


class _OwnLines:
    """The source map of code that keeps its lines."""

    __slots__ = ("filename", "first", "lines", "functions")

    def __init__(self, filename, first, lines, tree):
        self.filename = filename
        self.first = first
        self.lines = lines
        # From the outside in.
        self.functions = [(n.lineno, n.end_lineno, n.name) for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]

    def get(self, location):
        filename, lineno = location
        if filename != self.filename or not self.first <= lineno < self.first + len(self.lines):
            return None
        row = lineno - self.first
        name = [name for begin, end, name in self.functions
                if begin <= row + 1 <= end or name is self.functions[0][2]][-1]
        return _Origin(_Location(filename, lineno), name, self.lines[row])


class _Calls(ast.NodeTransformer):
    """`f(x, k=y)` -> `ag__.converted_call(f, (x,), ag__.dict(k=y), fscope__)`; functions inside are marked as
    converted."""
    @staticmethod
    def _operator(name, *args):
        return ast.Call(ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load()), list(args), [])

    def visit_Call(self, node):
        name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
        self.generic_visit(node)
        if name == "print" or name in _DEBUGGERS:
            return node
        kwargs = ast.Constant(None)
        if node.keywords:
            kwargs = self._operator("dict")
            kwargs.keywords = node.keywords
        call = self._operator("converted_call", node.func, ast.Tuple(node.args, ast.Load()), kwargs,
                              ast.Name("fscope__", ast.Load()))
        return ast.copy_location(call, node)

    def visit_With(self, node):
        node.body = [self.visit(statement) for statement in node.body]  # calls that make contexts stay as they are
        return node

    def visit_Lambda(self, node):
        return ast.copy_location(self._operator("autograph_artifact", self.generic_visit(node)), node)

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        mark = ast.Attribute(ast.Name("ag__", ast.Load()), "autograph_artifact", ast.Load())
        node.decorator_list.append(ast.copy_location(mark, node))
        return node


def _is_straight(tree):
    for node in ast.walk(tree):
        if isinstance(node, _NOT_STRAIGHT):
            return False
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return False
        if isinstance(node, ast.Attribute) and node.attr.startswith("__") and not node.attr.endswith("__"):
            return False  # the name of a private attribute depends on the class around the function
    return True


def _parse(code):
    """The definition that the code came from, its lines and the number of the first; None for what is not a plain
    def."""
    if code.co_name == "<lambda>" or code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE
                                                      | inspect.CO_ASYNC_GENERATOR):
        return None
    lines, index = inspect.findsource(code)
    lines = inspect.getblock(lines[index:])
    try:
        body = ast.parse(textwrap.dedent("".join(lines))).body
    except SyntaxError:  # strings with lines that begin further left
        return None
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef) or body[0].name != code.co_name:
        return None
    return body[0], lines, index + 1


def _define(name, parameters, body):
    arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
    function = ast.FunctionDef(name, arguments, body, [], None)
    function.type_params = []  # 3.12 and later want it
    return function


def _make(f):
    """The code of a function that makes `f` converted, given the operators and the options; None if malt must do it."""
    code = f.__code__
    parsed = _parse(code)
    if parsed is None or not _is_straight(parsed[0]):
        return None
    tree, lines, first = parsed
    origins = _OwnLines(code.co_filename, first, [line.rstrip("\n") for line in lines], tree)

    tree.decorator_list = []
    tree.returns = None
    arguments = tree.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    # The values come from the function itself; what counts is that there are some.
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]

    rewrite = _Calls()
    scope = ast.parse(f"with ag__.FunctionScope({tree.name!r}, 'fscope__', options__) as fscope__: pass").body[0]
    doc = tree.body[:1] if ast.get_docstring(tree, clean=False) is not None else []
    scope.body = [rewrite.visit(statement) for statement in tree.body[len(doc):]] or [ast.Pass()]
    tree.body = doc + [scope]
    tree.name = "tf__" + tree.name

    free = [ast.Assign([ast.Name(n, ast.Store())], ast.Constant(None)) for n in code.co_freevars]
    inner = _define("inner_factory", ("ag__", "options__"), [tree, ast.Return(ast.Name(tree.name, ast.Load()))])
    outer = _define("outer_factory", (), [*free, inner, ast.Return(ast.Name("inner_factory", ast.Load()))])
    module = ast.Module([outer], [])
    ast.increment_lineno(tree, first - 1)
    ast.fix_missing_locations(module)

    space = {}
    flags = code.co_flags & _FUTURES
    exec(compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True), space)
    return space["outer_factory"]().__code__, origins


_made = weakref.WeakKeyDictionary()  # code -> what _make gave
_lock = threading.Lock()
_operators = None


def _operator_module():
    global _operators
    if _operators is None:
        from . import calls, marks, scope
        _operators = types.SimpleNamespace(converted_call=calls.converted_call,
                                           FunctionScope=scope.FunctionScope,
                                           dict=dict,
                                           autograph_artifact=marks.mark_converted)
    return _operators


def convert_function(f, options):
    """`f` converted, or None if it is not straight."""
    code = f.__code__
    if code not in _made:
        with _lock:
            try:
                made = _make(f)
            except (OSError, TypeError, IndentationError):  # no source
                made = None
            _made[code] = made
    if _made[code] is None:
        return None
    make, lines = _made[code]
    cells = dict(zip(code.co_freevars, f.__closure__ or ()))
    if len(make.co_freevars) != len(cells):
        return None
    converted = types.FunctionType(make, f.__globals__,
                                   closure=tuple(cells[n] for n in make.co_freevars))(_operator_module(), options)
    converted.__defaults__ = f.__defaults__
    converted.__kwdefaults__ = f.__kwdefaults__
    converted.ag_source_map = lines
    return converted
