"""The rewriting of source code, by malt. Importing this module imports malt."""

import ast
import importlib.util  # noqa: F401  (malt uses it without importing it)
import types

from malt.converters import (
    asserts,
    break_statements,
    call_trees,
    conditional_expressions,
    continue_statements,
    control_flow,
    directives,
    functions,
    lists,
    logical_expressions,
    return_statements,
    slices,
    variables,
)
from malt.core import unsupported_features_checker
from malt.core.converter import ProgramContext
from malt.lang import directives as malt_directives
from malt.pyct import anno, cfg, errors, qual_names, transpiler
from malt.pyct.static_analysis import activity, reaching_definitions

from . import experimental, marks
from .errors import generated
from .options import STANDARD, ConversionOptions, Feature


class _Directives(directives.DirectivesTransformer):
    """malt knows its directives by identity: ours stands for its."""

    def _known(self, node):
        if anno.getanno(node, directives.STATIC_VALUE, default=None) is experimental.set_loop_options:
            anno.setanno(node, directives.STATIC_VALUE, malt_directives.set_loop_options)
        return node

    def visit_Name(self, node):
        return self._known(super().visit_Name(node))

    def visit_Attribute(self, node):
        return self._known(super().visit_Attribute(node))


class _Slices(slices.SliceTransformer):
    """Only single items are rewritten, and only plain assignments of them."""

    def _process_single_assignment(self, target, value):
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            return None
        return super()._process_single_assignment(target, value)

    def visit_AugAssign(self, node):
        return self.generic_visit(node)


class _Prepare(ast.NodeTransformer):
    """Brings a tree into the form that malt expects and refuses what it would get wrong."""

    def visit_ExceptHandler(self, node):
        self.generic_visit(node)
        if node.name is not None:  # a node until `_Finish`
            node.name = ast.copy_location(ast.Name(node.name, ast.Store()), node)
        return node

    def visit_AnnAssign(self, node):
        """Variables of blocks become nonlocal, and such ones cannot have annotations."""
        self.generic_visit(node)
        if node.value is None or not node.simple:
            return node
        assign = ast.copy_location(ast.Assign([node.target], node.value), node)
        anno.copyanno(node, assign, anno.Basic.ORIGIN)
        return assign

    def visit_NamedExpr(self, node):
        raise errors.UnsupportedLanguageElementError("assignment expressions are not yet supported")


class _Finish(ast.NodeTransformer):
    def visit_ExceptHandler(self, node):
        if isinstance(node.name, ast.Name):
            node.name = node.name.id
        return self.generic_visit(node)


def _operators():
    """The module that generated code calls `ag__`."""
    from . import calls, control_flow as flow, lists as list_operators, logical, scope, variables as undefined

    module = types.ModuleType("autograph")
    for source, names in (
        (calls, ("converted_call",)),
        (flow, ("if_stmt", "while_stmt", "for_stmt")),
        (logical, ("and_", "or_", "not_", "eq", "not_eq", "if_exp", "assert_stmt")),
        (
            list_operators,
            (
                "new_list",
                "list_append",
                "list_pop",
                "list_stack",
                "get_item",
                "set_item",
                "GetItemOpts",
                "ListPopOpts",
                "ListStackOpts",
            ),
        ),
        (scope, ("FunctionScope", "with_function_scope")),
        (undefined, ("ld", "ldu", "Undefined", "UndefinedReturnValue")),
    ):
        for name in names:
            setattr(module, name, getattr(source, name))
    module.autograph_artifact = marks.mark_converted
    module.ConversionOptions = ConversionOptions
    module.Feature = Feature
    module.STD = STANDARD
    return module


class _Transpiler(transpiler.PyToPy):
    def __init__(self):
        super().__init__()
        self._locals = None

    def get_transformed_name(self, node):
        return "tf__" + super().get_transformed_name(node)

    def get_extra_locals(self):
        if self._locals is None:
            self._locals = {"ag__": _operators()}
        return self._locals

    def get_caching_key(self, user_context):
        return user_context.options

    def transform_ast(self, node, ctx):
        unsupported_features_checker.verify(node)
        node = _Prepare().visit(node)
        kinds = {type(n) for n in ast.walk(node)}
        uses = ctx.user.options.uses

        graphs = cfg.build(node)
        node = qual_names.resolve(node)
        node = activity.resolve(node, ctx, None)
        node = reaching_definitions.resolve(node, ctx, graphs)
        anno.dup(node, {anno.Static.DEFINITIONS: anno.Static.ORIG_DEFINITIONS})

        # The order matters: each step expects what the ones before it leave. Steps that would find nothing are left
        # out.
        node = functions.transform(node, ctx)
        node = _Directives(ctx).visit(node)
        if ast.Break in kinds:
            node = break_statements.transform(node, ctx)
        if uses(Feature.ASSERT_STATEMENTS):
            node = asserts.transform(node, ctx)
        if ast.Break in kinds or ast.Continue in kinds:
            node = continue_statements.transform(node, ctx)
        node = return_statements.transform(node, ctx)
        if uses(Feature.LISTS):
            node = lists.transform(node, ctx)
            node = _Slices(ctx).visit(node)
        node = call_trees.transform(node, ctx)
        node = control_flow.transform(node, ctx)
        if ast.IfExp in kinds:
            node = conditional_expressions.transform(node, ctx)
        node = logical_expressions.transform(node, ctx)
        return _Finish().visit(variables.transform(node, ctx))


_transpiler = _Transpiler()


def convert_function(f, options):
    """A function like `f` with its code converted; its `ag_source_map` tells (file, line) of that code -> origin. The
    code is kept; closures and defaults are those of `f` now."""
    if not hasattr(f, "__code__"):
        raise ValueError(
            "Cannot apply autograph to a function that doesn't expose a __code__ object. If this is a @tf.function,"
            " try passing f.python_function instead."
        )
    converted, module, source_map = _transpiler.transform(f, ProgramContext(options=options))
    converted.ag_module = module
    converted.ag_source_map = generated[module.__file__] = source_map
    return converted
