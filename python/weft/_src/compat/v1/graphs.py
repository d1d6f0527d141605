"""Building graphs of version 1."""

from weft import _weft
from weft._src.framework.contexts import contextmanager
from weft._src.raw import raw
from weft._src.framework import dtypes, graph as _graph
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor_shape import as_shape

_switches = {"control_flow_v2": True, "resource_variables": True, "v2_behavior": True}


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value a session is fed."""
    if not _weft.in_graph():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return _held(raw.Placeholder(dtype=dtype, shape=shape, name=name))


def placeholder_with_default(input, shape, name=None):
    """A tensor that a session may be fed in place of this one."""
    made = raw.PlaceholderWithDefault(input=input, shape=shape, name=name)
    return _held(made) if _weft.in_graph() else made


def _held(tensor):
    """A tensor that lives as long as its graph: programs find placeholders again by weak references."""
    tensor.op.outputs  # noqa: B018: the operation keeps them
    return tensor


def executing_eagerly_outside_functions():
    return _graph.executing_eagerly_outside_functions()


def enable_v2_behavior():
    _switches.update(control_flow_v2=True, resource_variables=True, v2_behavior=True)
    _graph.enable_eager_execution()


def disable_v2_behavior():
    """From here on, ops of this thread go into the default graph."""
    _switches.update(v2_behavior=False)
    _graph.disable_eager_execution()


def enable_control_flow_v2():
    _switches["control_flow_v2"] = True


def disable_control_flow_v2():
    """Graphs have the functional form of branches and loops in any case."""
    _switches["control_flow_v2"] = False


def control_flow_v2_enabled():
    return _switches["control_flow_v2"]


def enable_resource_variables():
    _switches["resource_variables"] = True


def disable_resource_variables():
    """Variables are resources in any case."""
    _switches["resource_variables"] = False


def resource_variables_enabled():
    return _switches["resource_variables"]


def enable_v2_tensorshape():
    pass


def disable_v2_tensorshape():
    raise NotImplementedError("disable_v2_tensorshape: shapes have version 2's form")


def set_random_seed(seed):
    """The seed of the default graph, or of the program."""
    from weft._src.framework.random_seed import set_seed

    if _weft.in_graph():
        _weft.current_graph().seed = seed
    else:
        set_seed(seed)


def get_seed(op_seed):
    from weft._src.framework import random_seed

    return random_seed.get_seed(op_seed)


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):  # noqa: N802: version 1's name
    """The input; when it is computed, the data are printed."""
    return raw.Print(
        input=input_,
        data=data,
        message=message or "",
        first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize,
        name=name,
    )


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    from weft._src.framework.indexed_slices import IndexedSlices

    return value if isinstance(value, IndexedSlices) else convert_to_tensor(value, dtype=dtype, name=name)


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    from weft._src.framework.composite import CompositeTensor

    return value if isinstance(value, CompositeTensor) else convert_to_tensor(value, dtype=dtype, name=name)


def convert_to_tensor_v1(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    return convert_to_tensor(
        value, dtype=dtype, name=name, dtype_hint=dtype_hint if preferred_dtype is None else preferred_dtype
    )


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """tf.constant; in a graph, the last of too few values fills the shape up."""
    import numpy as np

    from weft._src.framework import convert
    from weft._src.framework.tensor import Tensor

    in_graph = _weft.in_graph()
    if shape is None or isinstance(value, Tensor) or not (verify_shape or in_graph):
        return convert.constant(value, dtype, shape, name)
    shape = as_shape(shape)
    made = convert._eager_constant(value, None if dtype is None else dtypes.as_dtype(dtype))
    if made.shape == shape:
        return convert.constant(made, None, None, name)
    if verify_shape:
        if in_graph:
            raise TypeError(f"Expected Tensor's shape: {shape}, but got {made.shape}.")
        raise TypeError(
            f"Expected Tensor {made._numpy()} (converted from {value}) with shape {shape}, but got shape {made.shape}."
        )
    count, flat = shape.num_elements(), made.numpy().ravel()
    if flat.size > count:
        raise ValueError(f"Too many elements provided. Takes at most {count}, but got {flat.size}.")
    if flat.size < count:
        flat = np.concatenate([flat, np.repeat(flat[-1:], count - flat.size)])
    return convert.constant(flat.reshape(shape.as_list()), made.dtype, None, name)


def wrap_function(fn, signature, name=None):
    """A function of version 1's code: variables that it makes are kept, and so are ops that it forgets to return."""
    from weft._src.compat.v1.wrapped import wrap_function as wrap

    return wrap(fn, signature, name)


def _same(self, other):
    return self is other


def _different(self, other):
    return self is not other


def disable_tensor_equality():
    """From here on, == between tensors or variables asks whether they are one object."""
    from weft._src.framework.tensor import Tensor
    from weft._src.trackable.variable import Variable

    for cls in (Tensor, Variable):
        if "_hash_before" not in cls.__dict__:
            cls._hash_before = cls.__hash__
            cls.__eq__, cls.__ne__, cls.__hash__ = _same, _different, object.__hash__


def enable_tensor_equality():
    """From here on, == between tensors or variables compares their values."""
    from weft._src.framework.tensor import Tensor
    from weft._src.trackable.variable import Variable

    for cls in (Tensor, Variable):
        if "_hash_before" in cls.__dict__:
            del cls.__eq__, cls.__ne__
            cls.__hash__ = cls._hash_before
            del cls._hash_before


def colocate_with(op, ignore_existing=False):
    """Ops of the block are placed with another."""
    from weft._src.framework.graph import executing_eagerly

    if executing_eagerly():
        import contextlib

        return contextlib.nullcontext() if op is None else _device_of(op)
    from weft._src.framework.graph import get_default_graph

    return get_default_graph().colocate_with(op, ignore_existing)


def _device_of(op):
    from weft._src.framework.device import device

    return device(getattr(op, "device", None))


@contextmanager
def op_scope(values, name, default_name=None):
    """name_scope with its former order of arguments."""
    from weft._src.framework.graph import name_scope_v1

    with name_scope_v1(name, default_name, values) as scope:
        yield scope


def add_check_numerics_ops():
    """One op that checks all floating point tensors of the graph."""
    from weft import _weft
    from weft._src.framework import dtypes
    from weft._src.framework.graph import control_dependencies, get_default_graph
    from weft._src.function.control_flow import group
    from weft._src.raw import raw

    if not _weft.in_graph():
        raise RuntimeError(
            "add_check_numerics_ops() is not compatible with eager execution. To check for Inf's and NaN's under eager execution, call "
            "tf.debugging.enable_check_numerics() once before executing the checked operations."
        )
    checks = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype in (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16):
                with control_dependencies(checks[-1:]):
                    checks.append(raw.CheckNumerics(tensor=output, message=f"{op.name}:{output.value_index}").op)
    return group(*checks)


def output_all_intermediates(state):
    """Whether functions of branches give all that gradients could need; weft always finds what they do."""
    _ = state
