"""tf.compat.v1.nn.dynamic_rnn and its like: a cell, called for each step of sequences. A cell is any object that is called with (inputs, state) and has state_size,
output_size and zero_state or get_initial_state."""

from weft._src.compat.v1.variables import variable_scope
from weft._src.framework import dtypes, nest
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.function.control_flow import while_loop
from weft._src.ops import array_ops, math_ops
from weft._src.ops.tensor_array import TensorArray


def _check_cell(name, cell):
    wanted = {
        "'output_size' property is missing": hasattr(cell, "output_size"),
        "'state_size' property is missing": hasattr(cell, "state_size"),
        "either 'zero_state' or 'get_initial_state' method is required": hasattr(cell, "zero_state")
        or hasattr(cell, "get_initial_state"),
        "is not callable": callable(cell),
    }
    missing = [text for text, there in wanted.items() if not there]
    if missing:
        raise TypeError(f"The argument {name!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")


def _swapped(tensor):
    """Batch and time change places."""
    tensor = convert_to_tensor(tensor)
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise ValueError(f"Expected input tensor {tensor.name} to have rank at least 2, but saw shape: {tensor.shape}")
    axes = array_ops.concat([[1, 0], math_ops.range(2, array_ops.rank(tensor))], axis=0)
    made = array_ops.transpose(tensor, axes)
    if tensor.shape.rank is not None:
        made.set_shape([tensor.shape[1], tensor.shape[0], *tensor.shape[2:]])
    return made


def _first_state(cell, initial_state, batch, dtype):
    if initial_state is not None:
        return nest.map_structure(lambda s: s if hasattr(s, "stack") else convert_to_tensor(s), initial_state)
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch, dtype=dtype)
    return cell.zero_state(batch, dtype)


def _lengths(sequence_length, batch):
    if sequence_length is None:
        return None
    lengths = math_ops.cast(convert_to_tensor(sequence_length), dtypes.int32)
    if lengths.shape.rank not in (None, 1):
        raise ValueError(f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.shape}")
    return array_ops.identity(lengths, name="sequence_length")


def _chosen(over, old, new):
    """`old` in rows that are over, else `new`."""
    if not hasattr(new, "shape") or new.shape.rank == 0:
        return new
    shape = array_ops.concat([[-1], array_ops.ones([array_ops.rank(new) - 1], dtypes.int32)], axis=0)
    made = array_ops.where(array_ops.reshape(over, shape), old, new)
    made.set_shape(new.shape)
    return made


def _step(cell, inputs, state, time, lengths):
    """One call: outputs past the end are zero, and states stay."""
    output, new = cell(inputs, state)
    nest.assert_same_structure(state, new)
    if lengths is None:
        return output, new
    over = time >= lengths
    output = nest.map_structure(lambda o: _chosen(over, array_ops.zeros_like(o), o), output)
    return output, nest.map_structure(lambda old, now: _chosen(over, old, now), state, new)


def dynamic_rnn(
    cell,
    inputs,
    sequence_length=None,
    initial_state=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=False,
    scope=None,
):
    """(outputs of all steps, last state) of a cell over [batch, time, ...] or, time_major, [time, batch, ...]."""
    _check_cell("cell", cell)
    with variable_scope(scope or "rnn"):
        inputs = nest.map_structure(convert_to_tensor if time_major else _swapped, inputs)
        first = nest.flatten(inputs)[0]
        steps = array_ops.shape(first)[0] if first.shape[0] is None else first.shape[0]
        batch = array_ops.shape(first)[1] if first.shape[1] is None else first.shape[1]
        lengths = _lengths(sequence_length, batch)
        state = _first_state(cell, initial_state, batch, dtype)
        kinds = nest.map_structure(lambda _: first.dtype if dtype is None else dtypes.as_dtype(dtype), cell.output_size)
        arrays = nest.map_structure(lambda kind: TensorArray(kind, size=steps), kinds)

        def body(time, arrays, state):
            now = nest.map_structure(lambda x: x[time], inputs)
            for given, whole in zip(nest.flatten(now), nest.flatten(inputs)):
                given.set_shape(whole.shape[1:])
            output, state = _step(cell, now, state, time, lengths)
            arrays = nest.map_structure(lambda a, o: a.write(time, o), arrays, output)
            return time + 1, arrays, state

        _, arrays, state = while_loop(
            lambda time, *_: time < steps,
            body,
            (0, arrays, state),
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )

        def stacked(array, size):
            made = array.stack()
            made.set_shape(TensorShape([first.shape[0], first.shape[1]]).concatenate(TensorShape(size)))
            return made if time_major else _swapped(made)

        return nest.map_structure_up_to(cell.output_size, stacked, arrays, cell.output_size), state


def bidirectional_dynamic_rnn(
    cell_fw,
    cell_bw,
    inputs,
    sequence_length=None,
    initial_state_fw=None,
    initial_state_bw=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=False,
    scope=None,
):
    """((outputs forward, outputs backward), (state forward, state backward))"""
    _check_cell("cell_fw", cell_fw)
    _check_cell("cell_bw", cell_bw)
    time, batch = (0, 1) if time_major else (1, 0)

    def backwards(x):
        if sequence_length is None:
            return array_ops.reverse(x, [time])
        return array_ops.reverse_sequence(x, sequence_length, seq_axis=time, batch_axis=batch)

    options = dict(
        sequence_length=sequence_length,
        dtype=dtype,
        parallel_iterations=parallel_iterations,
        swap_memory=swap_memory,
        time_major=time_major,
    )
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as within:
            forward, state_fw = dynamic_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=within, **options)
        with variable_scope("bw") as within:
            backward, state_bw = dynamic_rnn(
                cell_bw, nest.map_structure(backwards, inputs), initial_state=initial_state_bw, scope=within, **options
            )
        return (forward, nest.map_structure(backwards, backward)), (state_fw, state_bw)


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """(list of outputs, last state) for a list of inputs, one for each step."""
    _check_cell("cell", cell)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    outputs = []
    with variable_scope(scope or "rnn") as within:
        first = convert_to_tensor(nest.flatten(inputs)[0])
        batch = array_ops.shape(first)[0] if first.shape[0] is None else first.shape[0]
        lengths = _lengths(sequence_length, batch)
        state = _first_state(cell, initial_state, batch, dtype)
        for time, now in enumerate(inputs):
            if time > 0:
                within.reuse_variables()
            now = nest.map_structure(convert_to_tensor, now)
            output, state = _step(cell, now, state, time, lengths)
            outputs.append(output)
    return outputs, state


def static_state_saving_rnn(cell, inputs, state_saver, state_name, sequence_length=None, scope=None):
    """static_rnn whose first state comes from an object and whose last one goes there."""
    from weft._src.framework.graph import control_dependencies

    several = isinstance(state_name, (list, tuple))
    if nest.is_nested(cell.state_size) != several:
        raise ValueError(
            f"state_name should be the same type as cell.state_size.  state_name: {state_name}, cell.state_size: {cell.state_size}"
        )
    names = list(state_name) if several else [state_name]
    saved = [state_saver.state(name) for name in names]
    initial = nest.pack_sequence_as(cell.state_size, saved) if several else saved[0]
    outputs, state = static_rnn(cell, inputs, initial, sequence_length=sequence_length, scope=scope)
    saves = [state_saver.save_state(name, value) for name, value in zip(names, nest.flatten(state))]
    with control_dependencies(saves):
        outputs[-1] = nest.map_structure(array_ops.identity, outputs[-1])
        state = nest.map_structure(array_ops.identity, state)
    return outputs, state


def static_bidirectional_rnn(
    cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None, sequence_length=None, scope=None
):
    """(outputs of both directions joined, state forward, state backward)"""
    _check_cell("cell_fw", cell_fw)
    _check_cell("cell_bw", cell_bw)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")

    def backwards(values):
        if sequence_length is None:
            return list(reversed(values))
        stacked = array_ops.stack([convert_to_tensor(v) for v in values])
        made = array_ops.reverse_sequence(stacked, sequence_length, seq_axis=0, batch_axis=1)
        return array_ops.unstack(made)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as within:
            forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, within)
        with variable_scope("bw") as within:
            backward, state_bw = static_rnn(
                cell_bw, backwards(inputs), initial_state_bw, dtype, sequence_length, within
            )
    joined = [array_ops.concat([a, b], 1) for a, b in zip(forward, backwards(backward))]
    return joined, state_fw, state_bw


def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """A loop whose inputs, states and end loop_fn(time, output, state, loop_state) decides: (arrays of outputs, last state, last loop_state)."""
    _check_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("Argument `loop_fn` must be a callable.")
    with variable_scope(scope or "rnn"):
        time = convert_to_tensor(0, dtypes.int32)
        finished, inputs, state, emit, loop_state = loop_fn(time, None, None, None)
        kept = loop_state is not None
        loop_state = loop_state if kept else convert_to_tensor(0, dtypes.int32)
        first = convert_to_tensor(nest.flatten(inputs)[0])
        batch = array_ops.shape(first)[0] if first.shape[0] is None else first.shape[0]
        structure = cell.output_size if emit is None else emit

        def empty(part):
            if emit is None:
                shape = array_ops.concat([[batch], TensorShape(part).as_list()], axis=0)
                return array_ops.zeros(shape, nest.flatten(state)[0].dtype)
            return array_ops.zeros_like(
                array_ops.broadcast_to(part, array_ops.concat([[batch], array_ops.shape(part)], 0))
            )

        zero = nest.map_structure(empty, structure)
        arrays = nest.map_structure(
            lambda z: TensorArray(z.dtype, size=0, dynamic_size=True, clear_after_read=False), zero
        )

        def body(time, finished, inputs, arrays, state, loop_state):
            output, new = cell(inputs, state)
            at = time + 1
            now, following, new, emitted, new_loop = loop_fn(at, output, new, loop_state if kept else None)
            nest.assert_same_structure(state, new)
            emitted = output if emitted is None else emitted
            emitted = nest.map_structure(lambda z, e: _chosen(finished, z, e), zero, emitted)
            new = nest.map_structure(lambda old, later: _chosen(finished, old, later), state, new)
            arrays = nest.map_structure(lambda a, e: a.write(time, e), arrays, emitted)
            return at, math_ops.logical_or(finished, now), following, arrays, new, new_loop if kept else loop_state

        _, _, _, arrays, state, loop_state = while_loop(
            lambda time, finished, *_: math_ops.logical_not(math_ops.reduce_all(finished)),
            body,
            (time, finished, inputs, arrays, state, loop_state),
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        return arrays, state, loop_state if kept else None
