"""vectorized_map: a function that is traced for one element and run for all of them at once, by the engine's trace/vectorize.h."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import nest
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import FuncGraph, scratch_graph
from weft._src.framework.tensor_shape import TensorShape
from weft._src.function.functional import _converted, _Elements, _is_composite, map_fn


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """fn of every element along the first axis, all at once; an op that knows no other way runs element by element."""
    flat = nest.flatten(elems)
    if not flat:
        max(())
    if any(_is_composite(x) for x in flat):
        return _looped(fn, nest.map_structure(lambda x: x if _is_composite(x) else convert_to_tensor(x), elems))
    flat = [convert_to_tensor(x) for x in flat]
    sizes = [x.shape[0] if x.shape.rank is not None else None for x in flat]
    size = max((s for s in sizes if s is not None), default=None)
    # Elements of one row go with all others.
    flat = [
        x if s == size or s is None else raw.BroadcastTo(input=x, shape=[size] + x.shape.as_list()[1:])
        for x, s in zip(flat, sizes)
    ]
    graph = FuncGraph("loop_body")
    graph._around = _weft.current_graph() if _weft.in_graph() else None
    with graph.as_default():
        rows = [
            graph._native.add_argument(
                f"element_{i}", x.dtype, x.shape[1:] if x.shape.rank is not None else TensorShape(None)
            )
            for i, x in enumerate(flat)
        ]
        result = _converted(fn)(nest.pack_sequence_as(elems, rows))
        leaves = nest.flatten(result)
        composite = any(_is_composite(r) for r in leaves)
        tensors = [] if composite else [convert_to_tensor(r) for r in leaves if r is not None]
    if composite:
        return _looped(fn, nest.pack_sequence_as(elems, flat))
    got = iter(
        _weft.vectorized(
            graph, tensors, flat, -1 if size is None else size, fallback_to_while_loop, _tell if warn else None
        )
    )
    return nest.pack_sequence_as(result, [None if r is None else next(got) for r in leaves])


def _tell(op):
    from weft._src.framework.misc import get_logger

    get_logger().warning("Using a while_loop for converting %s cause there is no registered converter for this op.", op)


def _looped(fn, elems):
    """As map_fn, for composite elements and results: what fn gives is known when it has been traced."""
    if not _weft.in_graph():
        from weft._src.function.function import function

        return function(lambda elems: _looped(fn, elems), autograph=False)(elems)
    fn = _converted(fn)
    with scratch_graph():
        specs = _specs_of(fn(_Elements(elems).at(0)))
    return map_fn(fn, elems, fn_output_signature=specs)


def _specs_of(result):
    from weft._src.framework.type_spec import TensorSpec

    return nest.map_structure(lambda x: x._type_spec if _is_composite(x) else TensorSpec(*_shape_and_type(x)), result)


def _shape_and_type(x):
    x = convert_to_tensor(x)
    return x.shape, x.dtype
