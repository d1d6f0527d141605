"""tf.queue: queues of tensors, for threads and graphs."""

from weft._src.namespace import missing
from weft._src.raw import raw as _raw
from weft._src.framework import dtypes as _dtypes
from weft._src.framework.convert import convert_to_tensor as _convert
from weft._src.framework.tensor_shape import as_shape as _as_shape

_count = 0


def _unique(shared_name, name):
    """A queue of its own for each object, unless it is shared by name."""
    global _count
    if shared_name:
        return shared_name
    _count += 1
    return f"{name}_{_count}"


class QueueBase:
    """What all queues have: elements are one tensor, a list of them, or a dict where they have names."""

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes = [_dtypes.as_dtype(t) for t in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError(
                f"Queue shapes must have the same length as dtypes, received len(shapes)={len(shapes)}, len(dtypes)={len(self._dtypes)}"
            )
        self._shapes = [_as_shape(None) for _ in self._dtypes] if shapes is None else [_as_shape(s) for s in shapes]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError(
                f"Queue names must have the same length as dtypes,received len(names)={len(names)},len(dtypes)={len(self._dtypes)}"
            )
        self._names, self._queue_ref = None if names is None else list(names), queue_ref

    queue_ref = property(lambda self: self._queue_ref)
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes)
    names = property(lambda self: self._names)
    name = property(lambda self: self._queue_ref.op.name if not hasattr(self._queue_ref, "numpy") else self._name)

    def _components(self, vals):
        if isinstance(vals, dict):
            if self._names is None:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(vals) != sorted(self._names):
                raise ValueError(
                    f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: {sorted(vals)},Queue: {sorted(self._names)}"
                )
            vals = [vals[n] for n in self._names]
        elif self._names is not None:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, (list, tuple)) or len(self._dtypes) == 1 and len(vals) != 1:
            vals = [vals]
        if len(vals) != len(self._dtypes):
            raise ValueError(f"the queue has {len(self._dtypes)} components, {len(vals)} were given")
        return [_convert(v, t) for v, t in zip(vals, self._dtypes)]

    def _given(self, tensors, rows):
        for tensor, shape in zip(tensors, self._shapes):
            tensor.set_shape(shape if rows is False else _as_shape([rows]).concatenate(shape))
        if self._names is not None:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else list(tensors)

    def enqueue(self, vals, name=None):
        return _raw.QueueEnqueueV2(handle=self._queue_ref, components=self._components(vals), name=name)

    def enqueue_many(self, vals, name=None):
        """One element for each row."""
        return _raw.QueueEnqueueManyV2(handle=self._queue_ref, components=self._components(vals), name=name)

    def dequeue(self, name=None):
        return self._given(_raw.QueueDequeueV2(handle=self._queue_ref, component_types=self._dtypes, name=name), False)

    def dequeue_many(self, n, name=None):
        return self._given(
            _raw.QueueDequeueManyV2(handle=self._queue_ref, n=n, component_types=self._dtypes, name=name),
            n if isinstance(n, int) else None,
        )

    def dequeue_up_to(self, n, name=None):
        return self._given(
            _raw.QueueDequeueUpToV2(handle=self._queue_ref, n=n, component_types=self._dtypes, name=name), None
        )

    def close(self, cancel_pending_enqueues=False, name=None):
        return _raw.QueueCloseV2(handle=self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)

    def is_closed(self, name=None):
        return _raw.QueueIsClosedV2(handle=self._queue_ref, name=name)

    def size(self, name=None):
        return _raw.QueueSizeV2(handle=self._queue_ref, name=name)


def _types(given):
    return [_dtypes.as_dtype(t) for t in (given if isinstance(given, (list, tuple)) else [given])]


def _shapes(given, types):
    return (
        None
        if given is None
        else [
            _as_shape(s)
            for s in (
                given
                if isinstance(given, (list, tuple))
                and len(types) == len(given)
                and not all(isinstance(d, int) for d in given)
                else [given]
            )
        ]
    )


class FIFOQueue(QueueBase):
    """First in, first out."""

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        types = _types(dtypes)
        shapes = _shapes(shapes, types)
        self._name = _unique(shared_name, name)
        ref = _raw.FIFOQueueV2(
            component_types=types, shapes=shapes or [], capacity=capacity, shared_name=self._name, name=name
        )
        super().__init__(types, shapes, names, ref)


class PaddingFIFOQueue(QueueBase):
    """Elements of different sizes, padded with zeros when several are taken."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        types = _types(dtypes)
        shapes = [_as_shape(s) for s in shapes]
        self._name = _unique(shared_name, name)
        ref = _raw.PaddingFIFOQueueV2(
            component_types=types, shapes=shapes, capacity=capacity, shared_name=self._name, name=name
        )
        super().__init__(types, shapes, names, ref)


class PriorityQueue(QueueBase):
    """The smallest int64 first."""

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        given = _types(types)
        shapes = _shapes(shapes, given) or [_as_shape([])] * len(given)
        self._name = _unique(shared_name, name)
        ref = _raw.PriorityQueueV2(
            component_types=given, shapes=shapes, capacity=capacity, shared_name=self._name, name=name
        )
        super().__init__(
            [_dtypes.int64, *given], [_as_shape([]), *shapes], None if names is None else ["priority", *names], ref
        )


class RandomShuffleQueue(QueueBase):
    """Any of those that are in it."""

    def __init__(
        self,
        capacity,
        min_after_dequeue,
        dtypes,
        shapes=None,
        names=None,
        seed=None,
        shared_name=None,
        name="random_shuffle_queue",
    ):
        from weft._src.framework.random_seed import get_seed

        types = _types(dtypes)
        shapes = _shapes(shapes, types)
        first, second = get_seed(seed)
        if first is None and second is None:
            first = second = 0
        self._name = _unique(shared_name, name)
        ref = _raw.RandomShuffleQueueV2(
            component_types=types,
            shapes=shapes or [],
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=first,
            seed2=second,
            shared_name=self._name,
            name=name,
        )
        super().__init__(types, shapes, names, ref)


__getattr__ = missing("tf.queue")
