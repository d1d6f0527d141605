"""Input pipelines of version 1: queues that runners fill, and batches taken from them."""

from weft._src.ops import queue_ops as _queue
from weft._src.ops.sparse_tensor import SparseTensor as _SparseTensor
from weft._src.raw import raw as _raw
from weft._src.compat.v1 import variables as _variables
from weft._src.compat.v1.train.queue_runner import QueueRunner, add_queue_runner
from weft._src.framework import dtypes as _dtypes
from weft._src.framework.convert import convert_to_tensor as _convert
from weft._src.framework.graph import control_dependencies as _after
from weft._src.framework.graph import executing_eagerly as _eager
from weft._src.framework.graph import name_scope_v1 as _scope
from weft._src.framework.tensor_shape import as_shape as _as_shape
from weft._src.trackable.variable import Variable as _Variable

_NO_QUEUES = "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest data into your model instead."


def match_filenames_once(pattern, name=None):
    """A local variable with the names of the files that match."""
    with _scope(name, "matching_filenames", [pattern]) as name:
        return _Variable(
            _raw.MatchingFiles(pattern=pattern),
            name=name,
            trainable=False,
            validate_shape=False,
            collections=[_variables.GraphKeys.LOCAL_VARIABLES],
        )


def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor itself, and after so many reads OutOfRange."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError("num_epochs must be > 0 not %d." % num_epochs)
    with _scope(name, "limit_epochs", [tensor]) as name:
        local = [_variables.GraphKeys.LOCAL_VARIABLES]
        epochs = _Variable(_convert(0, _dtypes.int64), name="epochs", trainable=False, collections=local)
        with _after([epochs.count_up_to(num_epochs)]):
            return _raw.Identity(input=tensor, name=name)


def input_producer(
    input_tensor,
    element_shape=None,
    num_epochs=None,
    shuffle=True,
    seed=None,
    capacity=32,
    shared_name=None,
    summary_name=None,
    name=None,
    cancel_op=None,
):
    """A queue of the rows of a tensor, with a runner that fills it."""
    if _eager():
        raise RuntimeError(_NO_QUEUES)
    with _scope(name, "input_producer", [input_tensor]):
        input_tensor = _convert(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified"
            )
        if shuffle:
            from weft._src.ops.random_ops import shuffle as shuffled

            input_tensor = shuffled(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        q = _queue.FIFOQueue(
            capacity, [input_tensor.dtype], [element_shape], shared_name=shared_name, name=name or "fifo_queue"
        )
        add_queue_runner(QueueRunner(q, [q.enqueue_many([input_tensor])], cancel_op=cancel_op))
        if summary_name is not None:
            _summary(summary_name, _raw.Cast(x=q.size(), DstT=_dtypes.float32) * (1.0 / capacity))
        return q


def _summary(name, value):
    summary = _raw.ScalarSummary(tags=_convert(name), values=value)
    _variables.add_to_collection(_variables.GraphKeys.SUMMARIES, summary)


def string_input_producer(
    string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None, cancel_op=None
):
    not_null_err = "string_input_producer requires a non-null input tensor"
    if not hasattr(string_tensor, "dtype") and not string_tensor:
        raise ValueError(not_null_err)
    with _scope(name, "input_producer", [string_tensor]) as name:
        string_tensor = _convert(string_tensor, _dtypes.string)
        checked = _raw.Assert(condition=_raw.Size(input=string_tensor) > 0, data=[_convert(not_null_err)])
        with _after([checked]):
            string_tensor = _raw.Identity(input=string_tensor)
        return input_producer(
            input_tensor=string_tensor,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
            summary_name="fraction_of_%d_full" % capacity,
            cancel_op=cancel_op,
        )


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    with _scope(name, "input_producer", [limit]) as name:
        zero, one = _convert(0), _convert(1)
        numbers = _raw.Range(start=zero, limit=_convert(limit), delta=one)
        return input_producer(
            numbers, [], num_epochs, shuffle, seed, capacity, shared_name, "fraction_of_%d_full" % capacity, name
        )


def slice_input_producer(
    tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None
):
    """One slice of each tensor."""
    with _scope(name, "input_producer", tensor_list):
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        tensor_list = [_convert(t) for t in tensor_list]
        size = _raw.Shape(input=tensor_list[0])[0]
        index = range_input_producer(size, num_epochs, shuffle, seed, capacity, shared_name).dequeue()
        return [_raw.GatherV2(params=t, indices=index, axis=_convert(0)) for t in tensor_list]


# ---- batches -----------------------------------------------------------------------------------------------------


def _lists(tensors_list):
    """Lists of tensors, one for each thread, and a function that gives a batch the form of the first of them."""
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    first = tensors_list[0]
    if isinstance(first, dict):
        names = sorted(first)
        for tensors in tensors_list[1:]:
            if set(tensors) != set(first):
                raise ValueError("All dictionaries must have the same keys")
        return [[t[n] for n in names] for t in tensors_list], lambda got: dict(zip(names, got))
    single = not isinstance(first, (list, tuple))
    lists = [[t] if single else list(t) for t in tensors_list]
    return lists, (lambda got: got[0] if len(got) == 1 else list(got))


def _stored(tensors, enqueue_many):
    """Queues hold no sparse tensors: they take their parts as strings."""
    pack = _raw.SerializeManySparse if enqueue_many else _raw.SerializeSparse
    return [
        pack(sparse_indices=t.indices, sparse_values=t.values, sparse_shape=t.dense_shape)
        if isinstance(t, _SparseTensor)
        else t
        for t in tensors
    ]


def _restored(got, like, enqueue_many):
    """A batch of them as a sparse tensor."""
    if not isinstance(like, _SparseTensor):
        return got
    indices, values, shape = _raw.DeserializeSparse(serialized_sparse=got, dtype=like.dtype)
    rank = like.dense_shape.shape[0] if like.dense_shape.shape.rank else None
    rank = None if rank is None else rank + (not enqueue_many)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return _SparseTensor(indices, values, shape)


def _shapes(lists, shapes, enqueue_many, sparse):
    if shapes is not None:
        for shape, one in zip(shapes, sparse):
            if one:  # that of a sparse tensor's handle in TensorFlow
                _as_shape([1]).assert_is_compatible_with(_as_shape(shape))
        return [[3] if one else shape for shape, one in zip(shapes, sparse)]
    out = []
    for column in zip(*lists):
        for t in column:
            if t.shape.rank is None:
                raise ValueError("Cannot infer Tensor's rank: %s" % t)
        merged = [t.shape.with_rank_at_least(1)[1:] if enqueue_many else t.shape for t in column]
        for shape in merged[1:]:
            merged[0].merge_with(shape)
        out.append(merged[0])
    return out


def _batched(
    tensors_list,
    batch_size,
    capacity,
    enqueue_many,
    shapes,
    smaller,
    name,
    default_name,
    make_queue,
    threads,
    keep_input,
    fullness,
):
    if _eager():
        raise ValueError(_NO_QUEUES)
    lists, original = _lists(tensors_list)
    flat = [t for tensors in lists for t in tensors]
    with _scope(name, default_name, flat) as name:
        lists = [[t if isinstance(t, _SparseTensor) else _convert(t) for t in tensors] for tensors in lists]
        if not lists[0]:
            raise ValueError("Expected at least one tensor in batch().")
        types = [t.dtype for t in lists[0]]
        for tensors in lists[1:]:
            if [t.dtype for t in tensors] != types:
                raise TypeError(
                    "Expected types to be consistent: %s vs. %s."
                    % (", ".join(t.name for t in types), ", ".join(t.dtype.name for t in tensors))
                )
        first, sparse = lists[0], [isinstance(t, _SparseTensor) for t in lists[0]]
        for column in zip(*lists):
            if len({isinstance(t, _SparseTensor) for t in column}) > 1:
                raise ValueError(f"Inconsistent SparseTensors list: {list(column)}")
        types = [_dtypes.string if one else kind for kind, one in zip(types, sparse)]
        lists = [_stored(tensors, enqueue_many) for tensors in lists]
        q = make_queue(types, _shapes(lists, shapes, enqueue_many, sparse))
        put = q.enqueue_many if enqueue_many else q.enqueue
        ops = [_enqueue(put, tensors, keep_input, enqueue_many) for tensors in lists] * threads
        add_queue_runner(QueueRunner(q, ops))
        fullness(q)
        take = q.dequeue_up_to if smaller else q.dequeue_many
        got = take(batch_size, name=name)
        got = got if isinstance(got, list) else [got]
        return original([_restored(part, like, enqueue_many) for part, like in zip(got, first)])


def _enqueue(put, tensors, keep_input, enqueue_many):
    if keep_input is True:
        return put(tensors)
    keep = _convert(keep_input)
    if keep.shape.rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and keep.shape.rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if keep.shape.rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    if keep.shape.rank == 1:
        which = _raw.Cast(x=keep, DstT=_dtypes.int32)
        return put([_raw.DynamicPartition(data=t, partitions=which, num_partitions=2)[1] for t in tensors])
    from weft._src.compat.v1.old_ops import cond
    from weft._src.function.control_flow import no_op

    return cond(keep, lambda: put(tensors), no_op)


def _fraction_full(capacity):
    return lambda q: _summary(
        "fraction_of_%d_full" % capacity, _raw.Cast(x=q.size(), DstT=_dtypes.float32) * (1.0 / capacity)
    )


def _fraction_over(least, capacity):
    def add(q):
        over = _raw.Maximum(x=_convert(0), y=q.size() - least)
        _summary(
            "fraction_over_%d_of_%d_full" % (least, capacity - least),
            _raw.Cast(x=over, DstT=_dtypes.float32) * (1.0 / (capacity - least)),
        )

    return add


def _in_order(dynamic_pad, capacity, shared_name):
    kind = _queue.PaddingFIFOQueue if dynamic_pad else _queue.FIFOQueue
    return lambda types, shapes: kind(capacity, types, [_as_shape(s) for s in shapes], shared_name=shared_name)


def _shuffled(capacity, least, seed, shared_name):
    if capacity <= least:
        raise ValueError("capacity %d must be bigger than min_after_dequeue %d." % (capacity, least))
    return lambda types, shapes: _queue.RandomShuffleQueue(
        capacity, least, types, [_as_shape(s) for s in shapes], seed=seed, shared_name=shared_name
    )


def maybe_batch(
    tensors, keep_input, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    return _batched(
        [tensors], batch_size, capacity, enqueue_many, shapes, allow_smaller_final_batch, name, "batch",
        _in_order(dynamic_pad, capacity, shared_name), num_threads, keep_input, _fraction_full(capacity),
    )  # fmt: skip


def batch(
    tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Batches of what one set of tensors gives, run after run."""
    return maybe_batch(
        tensors,
        True,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch_join(
    tensors_list, keep_input, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    return _batched(
        tensors_list, batch_size, capacity, enqueue_many, shapes, allow_smaller_final_batch, name, "batch_join",
        _in_order(dynamic_pad, capacity, shared_name), 1, keep_input, _fraction_full(capacity),
    )  # fmt: skip


def batch_join(
    tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Batches of what several sets of tensors give, each with a thread of its own."""
    return maybe_batch_join(
        tensors_list,
        True,
        batch_size,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch(
    tensors, batch_size, capacity, min_after_dequeue, keep_input, num_threads=1, seed=None, enqueue_many=False, shapes=None,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    if _eager():
        raise ValueError(_NO_QUEUES)
    return _batched(
        [tensors], batch_size, capacity, enqueue_many, shapes, allow_smaller_final_batch, name, "shuffle_batch",
        _shuffled(capacity, min_after_dequeue, seed, shared_name), num_threads, keep_input, _fraction_over(min_after_dequeue, capacity),
    )  # fmt: skip


def shuffle_batch(
    tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, enqueue_many=False, shapes=None,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Batches in random order."""
    return maybe_shuffle_batch(
        tensors,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_shuffle_batch_join(
    tensors_list, batch_size, capacity, min_after_dequeue, keep_input, seed=None, enqueue_many=False, shapes=None,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    if _eager():
        raise ValueError(_NO_QUEUES)
    return _batched(
        tensors_list, batch_size, capacity, enqueue_many, shapes, allow_smaller_final_batch, name, "shuffle_batch_join",
        _shuffled(capacity, min_after_dequeue, seed, shared_name), 1, keep_input, _fraction_over(min_after_dequeue, capacity),
    )  # fmt: skip


def shuffle_batch_join(
    tensors_list, batch_size, capacity, min_after_dequeue, seed=None, enqueue_many=False, shapes=None,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    return maybe_shuffle_batch_join(
        tensors_list,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )
