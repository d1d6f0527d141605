"""Branches and loops on tensors: Python control flow when ops run at once, If, Case and While nodes in graphs. group, tuple, no_op and Assert, too."""

import collections.abc

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, nest
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.errors import InvalidArgumentError
from weft._src.framework.graph import Operation, control_dependencies, name_scope_v1
from weft._src.framework.tensor import Tensor


def _as_tensor(x):
    """A leaf of what a branch or body gave, as a tensor of the graph; None stays."""
    return x if x is None else convert_to_tensor(x)


def _as_result(x):
    """The same, but not yet a constant of the graph: that is made with the node that gives the result."""
    return x if x is None else _weft.convert(x)


def _is_array(x):
    """A tf.TensorArray: in graphs, its list is what goes through branches and loops."""
    return type(x).__name__ == "TensorArray"


def _stays(x):
    return getattr(type(x), "_is_composite", False) or _is_array(x)


def _flat(structure):
    return [t.flow if _is_array(t) else t for t in nest.flatten(structure, expand_composites=True) if t is not None]


def _tensors(structure, leaf=_as_tensor):
    """The structure with tensors as leaves, and those that are not None in a row."""
    structure = nest.map_structure(lambda x: x if _stays(x) else leaf(x), structure)
    return structure, _flat(structure)


def packed(structure, tensors):
    """The structure with other tensors; None stays None."""
    given = iter(tensors)

    def leaf(t):
        if t is None or not _is_array(t):
            return None if t is None else next(given)
        from weft._src.ops.tensor_array import build_ta_with_new_flow

        return build_ta_with_new_flow(t, next(given))

    leaves = [leaf(t) for t in nest.flatten(structure, expand_composites=True)]
    return nest.pack_sequence_as(structure, leaves, expand_composites=True)


# ---- branches --------------------------------------------------------------------------------------------


def _shown(structure):
    return structure if isinstance(structure, Tensor) else repr(structure)


def _check_outputs(structure, function):
    from weft._src.function.function import _bad_output, _convertible

    for x in nest.flatten(structure):
        if not (x is None or _stays(x) or isinstance(x, (Tensor, _weft.VariableBase)) or _convertible(x)):
            raise _bad_output(x, function)


def _wide_indices(x):
    """Slices with indices of int64: those of another branch may have them, and branches must agree."""
    if type(x).__name__ != "IndexedSlices" or x.indices.dtype == "int64":
        return x
    return type(x)(x.values, raw.Cast(x=x.indices, DstT="int64"), x.dense_shape)


class _Branches:
    """The branches of one node: what the first gave, the others must give, too."""

    def __init__(self, functions, names, of):
        self.functions, self.names, self.of = functions, names, of
        self.structures = []

    def code(self, k):
        def run(_):
            result = self.functions[k]()
            if isinstance(result, Operation):
                # Something that happens instead of a value: the branch gives a value after it.
                with control_dependencies([result]):
                    result = raw.Identity(input=raw.Const(value=True, dtype="bool"))
            _check_outputs(result, self.functions[k])
            structure, tensors = _tensors(nest.map_structure(_wide_indices, result), _as_result)
            if self.structures:
                self.compare(k, structure, tensors)
            self.structures.append(structure)
            return tensors

        return run

    def compare(self, k, structure, tensors):
        first = self.structures[0]
        counts = [len(nest.flatten(first)), len(nest.flatten(structure))]
        assert counts[0] == counts[1], counts
        try:
            nest.assert_same_structure(first, structure, expand_composites=True)
        except (ValueError, TypeError) as e:
            raise self.different(k, structure, e) from None
        for a, b in zip(_flat(first), tensors):
            if a.dtype != b.dtype:
                raise self.different(k, structure, f"{a} and {b} have different types")
        mine = nest.flatten(structure, expand_composites=True)
        theirs = nest.flatten(first, expand_composites=True)
        if [t is None for t in mine] != [t is None for t in theirs]:
            raise ValueError(
                f"Lengths of branch outputs of cond must match.\nlen(graphs[0].outputs): {sum(t is not None for t in theirs)}\n"
                f"len(graphs[{k}].outputs): {len(tensors)}\n"
            )

    def different(self, k, structure, details):
        a, b = self.names(0), self.names(k)
        return TypeError(
            f"{a} and {b} arguments to tf.{self.of} must have the same number, type, and overall structure of return values.\n\n"
            f"{a} output: {_shown(self.structures[0])}\n{b} output: {_shown(structure)}\n\nError details:\n{details}"
        )

    def add(self, choice, as_if, name):
        made = _weft.add_branches(choice, as_if, [self.code(k) for k in range(len(self.functions))], name)
        return packed(self.structures[0], made)


@dispatchable
def cond(pred, true_fn=None, false_fn=None, name=None):
    """true_fn() where pred is true, else false_fn(); in a graph both are traced and one runs."""
    if true_fn is None:
        raise TypeError("cond(): 'true_fn' argument required")
    if false_fn is None:
        raise TypeError("cond(): 'false_fn' argument required")
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if not _weft.in_graph():
        with name_scope_v1(name, "cond"):
            return true_fn() if (convert_to_tensor(pred) if pred is None else pred) else false_fn()
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    pred = convert_to_tensor(pred)
    if pred.dtype is not dtypes.bool:
        raise InvalidArgumentError(
            None,
            None,
            f"Input 'pred' passed {_proto_name(pred.dtype)} expected bool while building NodeDef '{name or 'cond'}/switch_pred/_2' using Op<name=Switch; "
            "signature=data:T, pred:bool -> output_false:T, output_true:T; attr=T:type>",
        )
    if pred.shape.rank != 0:
        pred = raw.Squeeze(input=pred)
    branches = _Branches([true_fn, false_fn], lambda k: ("true_fn", "false_fn")[k], "cond")
    return branches.add(pred, True, name or "cond")


def _fn_pairs(given, what, allow_plain):
    """(key, function) pairs of a list, tuple or dict."""
    if isinstance(given, collections.abc.Mapping):
        pairs = list(given.items())
    elif isinstance(given, (list, tuple)):
        pairs = list(enumerate(given)) if allow_plain and all(callable(f) for f in given) else list(given)
    else:
        raise TypeError(
            f"'{what}' must be a list, tuple, or dict"
            + (f". Received: {type(given)}" if what == "pred_fn_pairs" else "")
        )
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in '{what}' must be a 2-tuple. Received {pair}.")
    return pairs


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The function with that index; `default`, or the last one, for an index that there is none for."""
    if not isinstance(branch_index, (Tensor, _weft.VariableBase)):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    branch_index = convert_to_tensor(branch_index)
    if not branch_index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    pairs = _fn_pairs(branch_fns, "branch_fns", True)
    for index, f in pairs:
        if not isinstance(index, int):
            raise TypeError(f"key must be a Python `int`, got {type(index)}")
        if not callable(f):
            raise TypeError(f"fn for key {index} must be callable.")
    pairs.sort(key=lambda p: p[0])
    if [k for k, _ in pairs] != list(range(len(pairs))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found {{{','.join(str(k) for k, _ in pairs)}}}"
        )
    functions = [f for _, f in pairs]
    if default is not None:
        functions.append(default)
    if not _weft.in_graph():
        index = int(branch_index)
        with name_scope_v1(name, "switch_case"):
            return functions[index if 0 <= index < len(functions) else -1]()
    branches = _Branches(functions, lambda k: f"branches[{k}]", "switch_case")
    with name_scope_v1(name, "switch_case"):
        if branch_index.dtype.name != "int32":
            branch_index = raw.Cast(x=branch_index, DstT="int32")
        return branches.add(branch_index, False, "indexed_case")


@dispatchable
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The function of the first predicate that is true."""
    pairs = _fn_pairs(pred_fn_pairs, "pred_fn_pairs", False)
    eager = not _weft.in_graph()
    if (
        isinstance(pred_fn_pairs, dict)
        and not isinstance(pred_fn_pairs, collections.OrderedDict)
        and not exclusive
        and eager
    ):
        raise ValueError(
            "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when `exclusive=False` and eager mode is enabled."
        )
    predicates, functions = [], []
    for pred, f in pairs:
        pred = pred.deref() if hasattr(pred, "deref") else pred
        if isinstance(pred, (Tensor, _weft.VariableBase)):
            if pred.dtype.name != "bool":
                raise TypeError(
                    f"pred must be Tensor of type bool: {getattr(pred, 'name', pred) if not eager else pred}"
                )
        elif not eager:
            raise TypeError(f"pred must be a Tensor, got {pred}")
        if not callable(f):
            raise TypeError(f"fn for pred {pred} must be callable.")
        predicates.append(pred)
        functions.append(f)
    if default is not None and not callable(default):
        raise TypeError("'false_fn' must be callable.")
    with name_scope_v1(name, "case"):
        checks = []
        if default is None:
            default = functions[-1]
            checks.append(_none_is_true(predicates))
            predicates, functions = predicates[:-1], functions[:-1]
        if exclusive and not eager and len(predicates) > 1:
            checks.append(_at_most_one(predicates))
        rest = default
        for pred, f in reversed(list(zip(predicates, functions))):
            rest = _after(pred, f, rest)
        with control_dependencies([c for c in checks if c is not None]):
            result = rest()
        return result[0] if eager and not strict and isinstance(result, (list, tuple)) and len(result) == 1 else result


def _after(pred, f, rest):
    return lambda: cond(pred, f, rest, name="cond")


def _none_is_true(predicates):
    if not _weft.in_graph():
        found = any(bool(p) for p in predicates)
        if not found:
            values = ", ".join(str(bool(p)) for p in predicates)
            raise InvalidArgumentError(
                None,
                None,
                "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
                f"b'Input error: None of conditions evaluated as True:'\n{values}",
            )
        return None
    stacked = raw.Pack(values=predicates)
    return Assert(
        raw.Any(input=stacked, reduction_indices=[0]),
        ["Input error: None of conditions evaluated as True:", stacked],
        summarize=len(predicates),
    )


def _at_most_one(predicates):
    stacked = raw.Pack(values=predicates)
    count = raw.Sum(input=raw.Cast(x=stacked, DstT="int32"), reduction_indices=[0])
    return Assert(
        raw.Less(x=count, y=2),
        ["Input error: exclusive=True: more than 1 conditions", "evaluated as True:", stacked],
        summarize=len(predicates),
    )


# ---- loops -----------------------------------------------------------------------------------------------


def _without_variables(structure):
    return nest.map_structure(lambda x: convert_to_tensor(x) if isinstance(x, _weft.VariableBase) else x, structure)


def _proto_name(dtype):
    """How the engine's messages call a type."""
    return {"float16": "half", "float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    maximum_iterations=None,
    name=None,
):
    """loop_vars = body(*loop_vars) as long as cond(*loop_vars) is true."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    loop_vars = _without_variables(loop_vars)
    len(loop_vars)  # a tensor alone has none: TensorFlow's error
    if not _weft.in_graph():
        return _run_loop(cond, body, loop_vars, maximum_iterations)
    return _add_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations, name or "while")


def _run_loop(cond, body, loop_vars, maximum):
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    from weft._src.framework.type_spec import type_spec_from_value

    expected = nest.map_structure(lambda x: type_spec_from_value(x), list(loop_vars))
    limit = None if maximum is None else int(maximum)
    count = 0
    while (limit is None or count < limit) and cond(*loop_vars):
        loop_vars = body(*loop_vars)
        nest.assert_same_structure(expected, list(loop_vars))
        count += 1
    return nest.map_structure(lambda x: x if _stays(x) else convert_to_tensor(x), loop_vars)


def _add_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, maximum, name):
    start, flat = _tensors(loop_vars)
    if shape_invariants is None and any(getattr(type(x), "_is_composite", False) for x in nest.flatten(start)):
        shape_invariants = nest.map_structure(lambda _: None, start)  # the sizes of a composite's parts may change
    shapes = _invariants(start, shape_invariants) if shape_invariants is not None else None
    specs = _loop_structure(start, shape_invariants)
    if maximum is not None:
        maximum = _weft.convert(maximum)  # a number gets its name with the loop
        if maximum.shape.rank != 0:
            raise ValueError(f"maximum_iterations must be a scalar. Received shape: {maximum.shape}")
        if maximum.dtype.name != "int32":
            maximum = raw.Cast(x=maximum, DstT="int32")

    def go_on(args):
        result = convert_to_tensor(cond(*_pack_loop(specs, args)))
        if result.shape.rank != 0:
            result = raw.Squeeze(input=result)
        if result.dtype is not dtypes.bool:
            raise InvalidArgumentError(
                None,
                None,
                f"Input 'input' passed {_proto_name(result.dtype)} expected bool while building NodeDef '{name}/LoopCond/_8' using "
                "Op<name=LoopCond; signature=input:bool -> output:bool>",
            )
        return [result]

    def step(args):
        outputs = body(*_pack_loop(specs, args))
        if not nest.is_nested_or_composite(outputs):
            outputs = [outputs]
        outputs = _without_variables(outputs)
        try:
            nest.assert_same_structure(outputs, start, check_types=False, expand_composites=True)
        except ValueError:
            # Python values of the body stand for tensors.
            nest.assert_same_structure(_tensors(outputs)[0], start, check_types=False, expand_composites=True)
        made = _tensors(outputs)[1]
        for i, (before, after) in enumerate(zip(flat, made)):
            shown = before.name if not _is_eager(before) else f"loop_var_{i}:0"
            if before.dtype != after.dtype:
                raise TypeError(
                    f"Loop var {shown} enters the loop with type {before.dtype} but has type {after.dtype} after 1 iteration. {shown} type should "
                    "remain constant."
                )
            if not _fits(after.shape, before.shape if shapes is None else shapes[i]):
                raise ValueError(
                    f"Input tensor `{shown}` enters the loop with shape {before.shape}, but has shape {after.shape} after one "
                    "iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of "
                    "tf.while_loop to specify a less-specific shape."
                )
        return made

    made = _weft.add_loop(go_on, step, flat, shapes, maximum, parallel_iterations, name)
    return _pack_loop(specs, made)


def _fits(shape, allowed):
    if allowed.rank is None:
        return True
    return shape.rank == allowed.rank and all(a is None or a == b for a, b in zip(allowed.as_list(), shape.as_list()))


def _is_eager(tensor):
    return type(tensor).__name__ == "EagerTensor"


def _pack_loop(structure, tensors):
    return packed(structure, tensors)


def _loop_structure(start, shape_invariants):
    """The structure that tensors of the loop are put into: where a composite gets an invariant of its own, that TypeSpec's."""
    if shape_invariants is None:
        return start
    from weft._src.framework.tensor_shape import TensorShape
    from weft._src.framework.type_spec import TensorSpec, TypeSpec

    def choose(value, invariant):
        composite = isinstance(invariant, TypeSpec) and not isinstance(invariant, TensorSpec)
        return invariant if composite and not isinstance(invariant, TensorShape) else value

    try:
        return nest.map_structure_up_to(start, choose, start, shape_invariants)
    except (ValueError, TypeError):
        return start


def _invariants(start, given):
    from weft._src.framework.tensor_shape import TensorShape, as_shape
    from weft._src.framework.type_spec import TypeSpec

    def is_leaf(x):
        return x is None or isinstance(x, (TensorShape, TypeSpec)) or not nest.is_nested(x)

    shapes = nest.map_structure(lambda x: x, given) if is_leaf(given) else given
    nest.assert_same_structure(start, shapes, check_types=False, expand_composites=False)
    out = []
    for value, invariant in zip(nest.flatten(start), nest.flatten_up_to(start, shapes)):
        if getattr(type(value), "_is_composite", False):
            if isinstance(invariant, TypeSpec):
                out += [s.shape for s in nest.flatten(invariant, expand_composites=True)]
            else:
                out += [s.shape for s in nest.flatten(value._type_spec, expand_composites=True)]
        elif invariant is None or _is_array(value):
            out.append(_flat(value)[0].shape)
        else:
            out.append(invariant.shape if isinstance(invariant, TypeSpec) else as_shape(invariant))
    return out


# ---- order -----------------------------------------------------------------------------------------------


def no_op(name=None):
    """Does nothing."""
    return raw.NoOp(name=name)


def group(*inputs, **kwargs):
    """An operation that is done when all of these are."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs.keys()))
    if not _weft.in_graph():
        return None
    operations = []
    for x in nest.flatten(inputs, expand_composites=True):
        if x is None:
            continue
        x = getattr(x, "_as_graph_element", lambda: x)() if isinstance(x, _weft.VariableBase) else x
        if _is_eager(x):
            continue
        if not hasattr(x, "op") and not isinstance(x, Operation):
            raise TypeError(f"'inputs' should be zero or more (nested) Tensors. Received '{x}' with type '{type(x)}'.")
        operations.append(x)
    with control_dependencies(operations):
        return no_op(name)


@dispatchable
def tuple_(tensors, control_inputs=None, name=None):
    """The same tensors, each available only when all are."""
    if not _weft.in_graph():
        return tensors
    waits = []
    for t in tensors:
        if t is not None and not isinstance(t, Operation):
            waits.append(convert_to_tensor(t) if not getattr(type(t), "_is_composite", False) else t)
        elif isinstance(t, Operation):
            waits.append(t)
    if not waits:
        raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
    waits += list(control_inputs or [])
    with name_scope_v1(name, "tuple"):
        gate = group(*waits)
        with control_dependencies([gate]):
            return [
                (
                    None
                    if t is None
                    else (
                        gate
                        if isinstance(t, Operation)
                        else nest.map_structure(lambda x: raw.Identity(input=x), t, expand_composites=True)
                    )
                )
                for t in tensors
            ]


def _summary(tensor, summarize):
    count = 3 if summarize is None else summarize
    if not tensor.shape.rank:
        return str(tensor.numpy())
    flat = tensor.numpy().reshape(-1)
    shown = [str(x) for x in (flat if count < 0 else flat[:count])]
    return ", ".join(shown + (["..."] if len(shown) < flat.size else []))


@dispatchable
def Assert(condition, data, summarize=None, name=None):
    """Fails with the data where the condition is false."""
    if not _weft.in_graph():
        if not condition:
            shown = "\n".join(_summary(convert_to_tensor(x), summarize) for x in data)
            raise InvalidArgumentError(None, None, f"Expected '{condition!s}' to be true. Summarized data: {shown}")
        return None
    with name_scope_v1(name, "Assert"):
        condition = convert_to_tensor(condition)
        return raw.Assert(
            condition=condition,
            data=[convert_to_tensor(x) for x in data],
            summarize=3 if summarize is None else summarize,
            name="AssertGuard/Assert",  # TensorFlow's is in a branch of this name
        )
