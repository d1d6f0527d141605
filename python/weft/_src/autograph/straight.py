"""Conversion of functions without if, for and while statements: their calls and conditional expressions are rewritten.

Most functions are of this kind. Their code keeps the user's file and lines, and the large machinery of malt is neither
needed nor loaded.
"""

import __future__

import ast
import copy
import functools
import inspect
import operator
import textwrap
import types
import weakref
from typing import NamedTuple

from weft._src.framework import fork

# Code with these needs malt: statements that a tensor may decide, and what malt refuses.
_NOT_STRAIGHT = (
    ast.If,
    ast.For,
    ast.While,
    ast.Match,
    ast.ClassDef,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.AsyncFunctionDef,
)
_DEBUGGERS = ("pdb.set_trace", "ipdb.set_trace", "breakpoint")
_FUTURES = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


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
        # Line numbers in the file, from the outside in.
        self.functions = [(n.lineno, n.end_lineno, n.name) for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]

    def get(self, location):
        filename, lineno = location
        if filename != self.filename or not self.first <= lineno < self.first + len(self.lines):
            return None
        around = [name for begin, end, name in self.functions if begin <= lineno <= end]
        return _Origin(_Location(filename, lineno), around[-1] if around else None, self.lines[lineno - self.first])


def _load(name):
    return ast.Name(name, ast.Load())


def _thunk(body):
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)


class _Rewrite(ast.NodeTransformer):
    """`f(x, k=y)` -> `ag__.converted_call(f, (x,), ag__.dict(k=y), fscope__)`, `a and b` -> `ag__.and_(lambda: a,
    lambda: b)` and so on; functions inside are marked as converted."""

    @staticmethod
    def _operator(name, *args):
        return ast.Call(ast.Attribute(_load("ag__"), name, ast.Load()), list(args), [])

    def visit(self, node):
        new = super().visit(node)
        return new if new is node or new is None else ast.copy_location(new, node)

    def visit_Call(self, node):
        name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
        self.generic_visit(node)
        if name == "print" or name in _DEBUGGERS:
            return node
        kwargs = ast.Constant(None)
        if node.keywords:
            kwargs = self._operator("dict")
            kwargs.keywords = node.keywords
        return self._operator("converted_call", node.func, ast.Tuple(node.args, ast.Load()), kwargs, _load("fscope__"))

    def visit_IfExp(self, node):
        text = ast.unparse(node.test)
        self.generic_visit(node)
        return self._operator("if_exp", node.test, _thunk(node.body), _thunk(node.orelse), ast.Constant(text))

    def _joined(self, name, values):
        last = values[-1]
        for value in reversed(values[:-1]):
            last = self._operator(name, _thunk(value), _thunk(last))
        return last

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        return self._joined("and_" if isinstance(node.op, ast.And) else "or_", node.values)

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        sides = [node.left, *node.comparators]
        pairs = [ast.copy_location(ast.Compare(a, [op], [b]), node) for a, op, b in zip(sides, node.ops, sides[1:])]
        first = pairs[0]
        for pair in pairs[1:]:
            first = self._operator("and_", _thunk(first), _thunk(pair))
        return first

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self._operator("not_", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_With(self, node):
        node.body = [self.visit(statement) for statement in node.body]  # calls that make contexts stay as they are
        return node

    def visit_Lambda(self, node):
        return self._operator("autograph_artifact", self.generic_visit(node))

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        mark = ast.Attribute(_load("ag__"), "autograph_artifact", ast.Load())
        node.decorator_list.append(ast.copy_location(mark, node))
        return node


def _is_straight(tree):
    kinds = set()
    for node in ast.walk(tree):
        kinds.add(type(node))
        if isinstance(node, ast.Attribute) and node.attr.startswith("__") and not node.attr.endswith("__"):
            return False  # the name of a private attribute depends on the class around the function
    # An assignment inside a part that becomes a function would not leave it.
    moves = ast.NamedExpr in kinds and not kinds.isdisjoint((ast.IfExp, ast.BoolOp, ast.Compare))
    return kinds.isdisjoint(_NOT_STRAIGHT) and not moves


# --- finding the source ---


def _parse(code):
    """The definition that the code came from, with the file's line numbers, and its lines; None for what is none."""
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    lines, index = inspect.findsource(code)
    if code.co_name == "<lambda>":
        node = _find_lambda(code, "".join(lines))
        return node and (node, ast.get_source_segment("".join(lines), node).split("\n"))
    lines = inspect.getblock(lines[index:])
    body = ast.parse(textwrap.dedent("".join(lines))).body
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef) or body[0].name != code.co_name:
        return None
    ast.increment_lineno(body[0], index)
    return body[0], [line.rstrip("\n") for line in lines]


@functools.lru_cache(maxsize=8)
def _lambdas_of(source):
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Lambda)]


def _compiled(node):
    """The code of a lambda, as if it stood alone."""
    codes = [c for c in compile(ast.Expression(node), "", "eval").co_consts if isinstance(c, types.CodeType)]
    return codes[-1]  # after those of its defaults


def _places(code):
    return {place for place in code.co_positions() if place[3]}


def _find_lambda(code, source):
    found = [node for node in _lambdas_of(source) if node.lineno == code.co_firstlineno]
    # Several on one line differ in columns, or at least in what they hold.
    if len(found) > 1:
        found = [node for node in found if _places(_compiled(node)) == _places(code)]
    if len(found) > 1:
        found = [node for node in found if _compiled(node).co_consts == code.co_consts]
    return copy.deepcopy(found[0]) if len(found) == 1 else None


# --- the conversion ---


def _define(name, parameters, body):
    arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
    function = ast.FunctionDef(name, arguments, body, [], None)
    function.type_params = []  # 3.12 and later want it
    return function


def _plain_arguments(arguments):
    """Takes out annotations and values of defaults: those come from the function itself."""
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(None) for d in arguments.kw_defaults]


def _convert_def(tree):
    tree.decorator_list = []
    tree.returns = None
    scope = ast.parse(f"with ag__.FunctionScope({tree.name!r}, 'fscope__', options__) as fscope__: pass").body[0]
    doc = tree.body[:1] if ast.get_docstring(tree, clean=False) is not None else []
    rewrite = _Rewrite()
    scope.body = [rewrite.visit(statement) for statement in tree.body[len(doc) :]] or [ast.Pass()]
    ast.copy_location(scope, scope.body[0])
    tree.body = doc + [scope]
    tree.name = "tf__" + tree.name
    return [tree, ast.Return(_load(tree.name))]


def _convert_lambda(tree):
    inner = _thunk(_Rewrite().visit(tree.body))
    inner.args.args = [ast.arg("fscope__")]
    tree.body = _Rewrite._operator("with_function_scope", inner, ast.Constant("fscope__"), _load("options__"))
    return [ast.Return(tree)]


def _make(f):
    """The code of a function that makes `f` converted, given the operators and the options, and the source map; None if
    malt must do it."""
    code = f.__code__
    parsed = _parse(code)
    if parsed is None or not _is_straight(parsed[0]):
        return None
    tree, lines = parsed
    origins = _OwnLines(code.co_filename, code.co_firstlineno, lines, tree)
    _plain_arguments(tree.args)
    body = (_convert_lambda if isinstance(tree, ast.Lambda) else _convert_def)(tree)

    free = [ast.Assign([ast.Name(n, ast.Store())], ast.Constant(None)) for n in code.co_freevars]
    inner = _define("inner_factory", ("ag__", "options__"), body)
    outer = _define("outer_factory", (), [*free, inner, ast.Return(_load("inner_factory"))])
    module = ast.fix_missing_locations(ast.Module([outer], []))
    space = {}
    exec(compile(module, code.co_filename, "exec", flags=code.co_flags & _FUTURES, dont_inherit=True), space)
    return space["outer_factory"]().__code__, origins


_made = weakref.WeakKeyDictionary()  # code -> what _make gave
_lock = fork.lock()


@functools.cache
def _operators():
    from . import calls, logical, marks, scope

    return types.SimpleNamespace(
        converted_call=calls.converted_call,
        FunctionScope=scope.FunctionScope,
        with_function_scope=scope.with_function_scope,
        autograph_artifact=marks.mark_converted,
        if_exp=logical.if_exp,
        and_=logical.and_,
        or_=logical.or_,
        not_=logical.not_,
        dict=dict,
    )


def convert_function(f, options):
    """`f` converted, or None if it is not straight."""
    code = f.__code__
    if code not in _made:
        with _lock:
            try:
                _made[code] = _make(f)
            except (OSError, TypeError, SyntaxError):  # no source, or not the code's
                _made[code] = None
    if _made[code] is None:
        return None
    make, origins = _made[code]
    cells = dict(zip(code.co_freevars, f.__closure__ or ()))
    if len(make.co_freevars) != len(cells):
        return None
    closure = tuple(cells[n] for n in make.co_freevars)
    converted = types.FunctionType(make, f.__globals__, closure=closure)(_operators(), options)
    converted.__defaults__ = f.__defaults__
    converted.__kwdefaults__ = f.__kwdefaults__
    converted.ag_source_map = origins
    return converted
