"""What ops and functions of the API do with ragged tensors."""

import importlib

from weft._src.raw import raw
from weft._src.framework import dispatch, dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import register_api_name, register_elementwise, register_op
from weft._src.ops.ragged import factory, functions, gather, reduce, stack
from weft._src.ops.ragged.broadcast import binary, compare, unary
from weft._src.ops.ragged.dynamic_shape import (
    DynamicRaggedShape,
    broadcast_dynamic_shape,
    broadcast_to,
    ragged_fill,
    shape,
)
from weft._src.ops.ragged.ragged_tensor import RaggedTensor


def _unary(op, arguments):
    name = next(iter(arguments))
    others = {k: v for k, v in arguments.items() if k != name}
    value = arguments[name]
    if not isinstance(value, RaggedTensor):
        return NotImplemented
    return unary(lambda v: op(**{name: v}, **others), value)


def _binary(op, arguments):
    (one, x), (two, y), *others = arguments.items()
    return binary(lambda a, b: op(**{one: a, two: b}, **dict(others)), x, y)


register_elementwise(1, RaggedTensor, _unary)
register_elementwise(2, RaggedTensor, _binary)


@register_op([raw.Substr.op_name], RaggedTensor)
def _substr(op, arguments):
    rest = {k: v for k, v in arguments.items() if k not in ("input", "pos", "len")}
    given = [
        functions.as_values(arguments["input"]),
        functions.as_values(arguments["pos"]),
        functions.as_values(arguments["len"]),
    ]
    parts = functions.broadcast_all(given)
    like = next(p for p in parts if isinstance(p, RaggedTensor))
    flat = [p.flat_values if isinstance(p, RaggedTensor) else p for p in parts]
    return like.with_flat_values(op(input=flat[0], pos=flat[1], len=flat[2], **rest))


def _op(op, function, cls=RaggedTensor):
    """function(**arguments of the op) for ragged arguments."""

    @register_op([op.op_name], cls)
    def handler(op, arguments):
        return function(**arguments)


_op(raw.ReverseV2, lambda tensor, axis, **_: stack.reverse(tensor, axis))
_op(raw.Tile, lambda input, multiples, **_: stack.tile(input, multiples))
_op(raw.ExpandDims, lambda input, dim, **_: stack.expand_dims(input, dim))
_op(raw.Size, lambda input, out_type=None, **_: functions.size(input, out_type))
_op(raw.StringJoin, lambda inputs, separator="", **_: functions.string_join(inputs, separator))
_op(
    raw.DynamicPartition,
    lambda data, partitions, num_partitions, **_: functions.dynamic_partition(data, partitions, num_partitions),
)
_op(raw.UnsortedSegmentSum, reduce.segment_sum)
_op(raw.UnsortedSegmentProd, reduce.segment_prod)
_op(raw.UnsortedSegmentMin, reduce.segment_min)
_op(raw.UnsortedSegmentMax, reduce.segment_max)
_op(raw.AddN, lambda inputs, **_: functions.add_n(inputs))
_op(raw.SelectV2, lambda condition, t, e, **_: functions.where(condition, t, e))
_op(raw.GatherNd, lambda params, indices, **_: gather.gather_nd(params, indices))
_op(raw.Softmax, lambda logits, **_: functions.softmax(logits))
_op(raw.Fill, lambda dims, value, **_: ragged_fill(dims, value), DynamicRaggedShape)
_op(raw.BroadcastTo, lambda input, shape, **_: broadcast_to(input, shape), DynamicRaggedShape)
_op(raw.Reshape, lambda tensor, shape, **_: functions.reshape(tensor, shape), DynamicRaggedShape)


def _gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    return gather.gather(params, indices, axis, batch_dims)


def _embedding_lookup(params, ids, max_norm=None, name=None):
    from weft._src.ops import embedding_ops

    if isinstance(params, RaggedTensor):
        return NotImplemented
    return ids.with_flat_values(embedding_ops.embedding_lookup(params, ids.flat_values, max_norm, name))


def _like(name):
    def call(input, dtype=None, name=None, **_):
        from weft._src.ops import creation_ops

        return unary(lambda v: getattr(creation_ops, call._function)(v, dtype), input)

    call._function = name
    return call


def _flat(module, name):
    """A function of one tensor that is elementwise in its first argument, though not one op."""

    def call(x, *args, **kwargs):
        return unary(lambda v: getattr(importlib.import_module(module), name)(v, *args, **kwargs), x)

    return call


def _check(name):
    def call(x, y, *args, **kwargs):
        function = getattr(importlib.import_module("weft._src.ops.check_ops"), name)
        return compare(lambda a, b: function(a, b, *args, **kwargs), x, y)

    return call


# module of the function -> name -> what it is for ragged tensors
API = {
    "weft._src.ops.array_ops": {
        "shape": shape,
        "size": functions.size,
        "rank": functions.rank,
        "reshape": functions.reshape,
        "expand_dims": lambda input, axis, name=None: stack.expand_dims(input, axis),
        "squeeze": lambda input, axis=None, name=None: stack.squeeze(input, axis),
        "concat": lambda values, axis, name=None: stack.concat(values, axis),
        "stack": lambda values, axis=0, name=None: stack.stack(values, axis),
        "split": functions.split,
        "repeat": functions.repeat,
        "gather": _gather,
        "gather_nd": lambda params, indices, batch_dims=0, name=None, bad_indices_policy="": gather.gather_nd(
            params, indices, batch_dims, bad_indices_policy
        ),
        "where": functions.where,
        "broadcast_dynamic_shape": broadcast_dynamic_shape,
    },
    "weft._src.ops.string_ops": {"join": functions.string_join, "reduce_join": functions.reduce_join},
    "weft._src.ops.creation_ops": {
        "ones": lambda shape, dtype=dtypes.float32, name=None, layout=None: ragged_fill(
            shape, convert_to_tensor(1, dtype)
        ),
        "zeros": lambda shape, dtype=dtypes.float32, name=None, layout=None: ragged_fill(
            shape, convert_to_tensor(0, dtype)
        ),
        "fill": lambda dims, value, name=None, layout=None: ragged_fill(dims, convert_to_tensor(value)),
        "one_hot": functions.one_hot,
        "ones_like": _like("ones_like"),
        "zeros_like": _like("zeros_like"),
    },
    "weft._src.ops.math_ops": {
        "add": lambda x, y, name=None: binary(_math("add"), x, y),
        "pow": lambda x, y, name=None: binary(_math("pow"), x, y),
        "truediv": lambda x, y, name=None: binary(_math("truediv"), x, y),
        "divide": lambda x, y, name=None: binary(_math("divide"), x, y),
        "complex": lambda real, imag, name=None: binary(_math("complex"), real, imag),
        "xlog1py": lambda x, y, name=None: binary(_math("xlog1py"), x, y),
        "logical_xor": lambda x, y, name=None: binary(_math("logical_xor"), x, y),
        "add_n": functions.add_n,
    },
    "weft._src.ops.reduction_ops": {
        "reduce_sum": reduce.reduce_sum,
        "reduce_mean": reduce.reduce_mean,
        "reduce_max": reduce.reduce_max,
        "reduce_min": reduce.reduce_min,
        "reduce_prod": reduce.reduce_prod,
        "reduce_any": reduce.reduce_any,
        "reduce_all": reduce.reduce_all,
        "reduce_variance": reduce.reduce_variance,
        "reduce_std": reduce.reduce_std,
        "reduce_logsumexp": reduce.reduce_logsumexp,
        "unsorted_segment_mean": reduce.segment_mean,
        "unsorted_segment_sqrt_n": reduce.segment_sqrt_n,
        "cumsum": functions.cumsum,
        "bincount": functions.bincount,
    },
    "weft._src.ops.check_ops": {
        "assert_" + n: _check("assert_" + n)
        for n in "equal none_equal less less_equal greater greater_equal near".split()
    },
    "weft._src.ops.image_ops": {"resize": functions.resize},
    "weft._src.ops.product_ops": {"matmul": functions.matmul},
    "weft._src.ops.nn_ops": {"softmax": functions.softmax},
    "weft._src.ops.embedding_ops": {"embedding_lookup": _embedding_lookup},
}
# Functions of more than one op that are elementwise in their first argument.
FLAT = {
    "weft._src.ops.math_ops": "abs sign sigmoid log_sigmoid reciprocal_no_nan round real imag angle conj erfcinv ndtri "
    "saturate_cast cast negative square sqrt",
    "weft._src.ops.nn_ops": "leaky_relu gelu silu dropout stateless_dropout swish relu6 elu selu",
    "weft._src.ops.clip_ops": "clip_by_value",
    "weft._src.ops.image_ops": "adjust_brightness adjust_gamma convert_image_dtype",
}


def _math(name):
    return getattr(importlib.import_module("weft._src.ops.math_ops"), name)


def _mentions(value):
    return dispatch._mentions(value, (RaggedTensor, DynamicRaggedShape))


def _handler(own):
    def handler(args, kwargs):
        if any(_mentions(v) for v in args) or any(_mentions(v) for v in kwargs.values()):
            return own(*args, **kwargs)
        return NotImplemented

    return handler


def _register():
    """By name: modules are loaded when a program uses them. Functions that are one op need nothing here: the op
    knows."""
    for module, names in FLAT.items():
        table = API.setdefault(module, {})
        for name in names.split():
            table.setdefault(name, _flat(module, name))
    for module, table in API.items():
        for name, own in table.items():
            register_api_name(module, name, _handler(own))


_register()
