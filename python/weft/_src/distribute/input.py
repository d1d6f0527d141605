"""Distributed datasets and iterators: each element is one for every replica, taken from a pipeline one after the other."""

from weft import _weft
from weft._src.data.dataset import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, DatasetSpec
from weft._src.data.iterator import IteratorSpec, Optional
from weft._src.distribute import context
from weft._src.distribute.batches import of_worker, rebatched
from weft._src.distribute.grouping import regroup
from weft._src.distribute.input_types import DistributedDatasetInterface, DistributedIteratorInterface
from weft._src.distribute.options import ReduceOp
from weft._src.distribute.values import PerReplicaSpec
from weft._src.framework import errors, nest
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.device import device
from weft._src.framework.type_spec import TypeSpec


class _Facts:
    """What iterators and datasets of a strategy have in common."""

    __slots__ = ("strategy", "pipelines", "element_spec", "cardinality", "partial")

    def __init__(self, strategy, pipelines, element_spec, cardinality, partial):
        self.strategy = strategy
        self.pipelines = tuple(pipelines)  # the devices that each one feeds
        self.element_spec = element_spec  # of one replica
        self.cardinality = cardinality
        self.partial = partial  # whether a last element for some of the replicas is given, with nothing for the others

    @classmethod
    def of(cls, strategy, pipelines, original, dataset):
        """Of the dataset as it was given, and as one replica sees it."""
        cardinality = UNKNOWN_CARDINALITY if _weft.in_graph() else original.cardinality().numpy()
        multi_worker = strategy.extended._in_multi_worker_mode()
        partial = cardinality != INFINITE_CARDINALITY and (multi_worker or not _is_static(original.element_spec))
        partial = partial and getattr(strategy.extended, "experimental_enable_get_next_as_optional", True)
        spec = dataset.element_spec
        if partial and multi_worker:  # a worker that has no more rows than others goes on with none
            spec = nest.map_structure(_any_rows, spec)
        return cls(strategy, pipelines, spec, cardinality, partial)

    def key(self):
        return id(self.strategy), self.pipelines, self.partial

    @property
    def wraps(self):
        return self.strategy.extended._in_multi_worker_mode() or len(self.strategy.extended.worker_devices) > 1

    def together(self, values):
        return regroup(values, always_wrap=self.wraps)

    @property
    def distributed_spec(self):
        if not self.wraps:
            return self.element_spec
        count = len(self.strategy.extended.worker_devices)
        return nest.map_structure(lambda spec: PerReplicaSpec(*[spec] * count), self.element_spec)


def _any_rows(spec):
    return spec._unbatch()._batch(None) if spec.shape.rank else spec


def _is_static(element_spec):
    """Whether the shapes of elements are known, so that none is smaller than another."""
    for spec in nest.flatten(element_spec):
        if type(spec).__name__ in ("SparseTensorSpec", "RaggedTensorSpec"):
            if spec.shape.rank and spec.shape[0] is None:
                return False
        elif not all(part.shape.is_fully_defined() for part in spec._flat_tensor_specs):
            return False
    return True


def _nothing(element_spec):
    """An element without rows, for a replica that there is none for."""
    from weft._src.ops.array_ops import zeros
    from weft._src.ops.ragged.ragged_tensor import RaggedTensor
    from weft._src.ops.sparse_tensor import SparseTensor

    def empty(spec):
        kind = type(spec).__name__
        ragged = kind == "RaggedTensorSpec"
        shape = spec.shape[:1].concatenate(spec.shape[1 + spec.ragged_rank :]) if ragged else spec.shape
        sizes = [0 if n is None else n for n in shape.as_list()] if shape.rank else []
        if sizes and (ragged or shape.is_fully_defined()):
            sizes[0] = 0
        if kind == "SparseTensorSpec":
            return SparseTensor(zeros([0, len(sizes)], "int64"), zeros([0], spec.dtype), sizes)
        values = zeros(sizes, spec.dtype)
        if not ragged:
            return values
        splits = [zeros([1], spec.row_splits_dtype)] * spec.ragged_rank
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)

    return nest.map_structure(empty, element_spec)


def _on(where, element):
    """An element on a replica's device."""
    from weft._src.ops.array_ops import identity

    with device(where):
        return nest.map_structure(identity, element, expand_composites=True)


class DistributedIterator(CompositeTensor, DistributedIteratorInterface):
    """Gives each replica its own element."""

    def __init__(self, facts, iterators):
        self._facts, self._iterators = facts, list(iterators)

    @property
    def element_spec(self):
        return self._facts.distributed_spec

    @property
    def _type_spec(self):
        return DistributedIteratorSpec(self._facts)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    def next(self):
        return self.__next__()

    def _each(self, take):
        """take(iterator, device) for every replica."""
        return [take(it, d) for it, devices in zip(self._iterators, self._facts.pipelines) for d in devices]

    def get_next(self, name=None):
        """The next element of every replica."""
        with context.scope_of(self._facts.strategy):
            if context.get_replica_context() is not None:
                raise ValueError(
                    "next(iterator) should be called from outside of replica_fn. e.g. strategy.run(replica_fn, "
                    "args=(next(iterator),))"
                )
        if not self._facts.partial:
            return self._whole()
        if not _weft.in_graph() and not self._facts.strategy.extended._in_multi_worker_mode():
            return self._facts.together(self._taken())
        from weft._src.function.control_flow import cond

        optionals = self._each(lambda it, d: (it.get_next_as_optional(), d))
        return cond(self._any_value(optionals), lambda: self._filled(optionals), self._whole)

    def _whole(self):
        return self._facts.together(self._each(lambda it, d: _on(d, it.get_next())))

    def _taken(self):
        """Elements that there are, at least one, and nothing in place of the others."""
        found, end = [], None
        for it, devices in zip(self._iterators, self._facts.pipelines):
            for d in devices:
                try:
                    found.append(_on(d, it.get_next()))
                except errors.OutOfRangeError as e:
                    found.append(None)
                    end = e
        if end is not None and all(f is None for f in found):
            raise end
        return [_nothing(self._facts.element_spec) if f is None else f for f in found]

    def _any_value(self, optionals):
        """Whether there is an element for any replica, of any worker."""
        from weft._src.framework import dtypes
        from weft._src.ops import array_ops, math_ops

        found = [optional.has_value() for optional, _ in optionals]
        strategy = self._facts.strategy
        if not strategy.extended._in_multi_worker_mode():
            return math_ops.reduce_any(found)
        # In the shape in which TensorFlow's workers send it.
        count = math_ops.reduce_sum([math_ops.cast(f, dtypes.int64) for f in found], keepdims=True)
        total = strategy.reduce(ReduceOp.SUM, array_ops.expand_dims(count, 0), axis=None)
        return array_ops.reshape(total, []) > 0

    def _filled(self, optionals):
        from weft._src.function.control_flow import cond

        def element(optional, where):
            with device(where):
                return cond(optional.has_value(), optional.get_value, lambda: _nothing(self._facts.element_spec))

        return self._facts.together([element(optional, where) for optional, where in optionals])

    def get_next_as_optional(self):
        """The next element of every replica, or none, in a tf.experimental.Optional."""
        from weft._src.function.control_flow import cond

        facts = self._facts
        if facts.cardinality == INFINITE_CARDINALITY:
            return Optional.from_value(self._whole())
        if facts.cardinality == 0 and not facts.strategy.extended._in_multi_worker_mode():
            return Optional.empty(facts.distributed_spec)
        optionals = self._each(lambda it, d: (it.get_next_as_optional(), d))
        return cond(
            self._any_value(optionals),
            lambda: Optional(*_packed(facts.distributed_spec, self._filled(optionals))),
            lambda: Optional.empty(facts.distributed_spec),
        )


def _packed(spec, value):
    return Optional.from_value(value)._variant_tensor, spec


class _FactsSpec(TypeSpec):
    """Of values that functions take apart into what their pipelines are."""

    __slots__ = ["_facts"]

    def __init__(self, facts):
        self._facts = facts

    def _serialize(self):
        return (*self._facts.key(), self._facts.element_spec)

    @classmethod
    def _deserialize(cls, serialization):
        raise ValueError(f"Deserialization is currently unsupported for {cls}.")

    def _with(self, element_spec):
        f = self._facts
        return type(self)(_Facts(f.strategy, f.pipelines, element_spec, f.cardinality, f.partial))

    def is_subtype_of(self, other):
        if type(self) is not type(other) or self._facts.key() != other._facts.key():
            return False
        mine, others = self._facts.element_spec, other._facts.element_spec
        return _same_structure(mine, others) and all(
            a.is_subtype_of(b) for a, b in zip(nest.flatten(mine), nest.flatten(others))
        )

    def most_specific_common_supertype(self, others):
        common = nest.flatten(self._facts.element_spec)
        for other in others:
            if type(self) is not type(other) or self._facts.key() != other._facts.key():
                return None
            if not _same_structure(self._facts.element_spec, other._facts.element_spec):
                return None
            pairs = zip(common, nest.flatten(other._facts.element_spec))
            common = [a.most_specific_common_supertype([b]) for a, b in pairs]
            if any(c is None for c in common):
                return None
        return self._with(nest.pack_sequence_as(self._facts.element_spec, common))


def _same_structure(a, b):
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError):
        return False
    return True


class DistributedIteratorSpec(_FactsSpec):
    """A DistributedIterator as an argument of a function."""

    value_type = property(lambda self: DistributedIterator)

    @property
    def _component_specs(self):
        return [IteratorSpec(self._facts.element_spec) for _ in self._facts.pipelines]

    def _to_components(self, value):
        return value._iterators

    def _from_components(self, components):
        return DistributedIterator(self._facts, components)


class _Distributed(CompositeTensor, DistributedDatasetInterface):
    """A dataset for each pipeline."""

    _per_worker = False  # a ClusterCoordinator makes it on the workers

    @property
    def element_spec(self):
        return self._facts.distributed_spec

    @property
    def cardinality(self):
        return self._facts.cardinality

    def __iter__(self):
        if _weft.in_graph() and not _weft.current_graph().building_function:
            raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled.")
        if self._per_worker:
            raise ValueError(
                "To use this dataset, you need to pass this dataset to ClusterCoordinator.create_per_worker_dataset."
            )
        return DistributedIterator(self._facts, [iter(d) for d in self._datasets])

    def reduce(self, initial_state, reduce_func):
        """reduce_func(state, element) for all elements; the last state."""
        from weft._src.function.control_flow import while_loop

        iterator = iter(self)

        def step(optional, state):
            state = reduce_func(state, optional.get_value())
            return iterator.get_next_as_optional(), state

        first = iterator.get_next_as_optional()
        loop = while_loop(
            lambda optional, state: optional.has_value(), step, [first, initial_state], parallel_iterations=1
        )
        return loop[1]


class _DatasetsSpec(_FactsSpec):
    @property
    def _component_specs(self):
        return [DatasetSpec(self._facts.element_spec) for _ in self._facts.pipelines]

    def _to_components(self, value):
        return value._datasets

    def _from_components(self, components):
        made = self.value_type.__new__(self.value_type)
        made._facts, made._datasets = self._facts, list(components)
        return made


class DistributedDataset(_Distributed):
    """A dataset whose batches are divided among the replicas."""

    def __init__(self, strategy, pipelines, dataset, input_context=None, per_worker=False):
        count = strategy.num_replicas_in_sync
        self._per_worker = per_worker
        if input_context is not None and input_context.num_input_pipelines > 1:
            self._datasets = [of_worker(dataset, count, input_context)]
        else:
            self._datasets = [rebatched(dataset, count) if count > 1 else dataset]
        self._facts = _Facts.of(strategy, pipelines, dataset, self._datasets[0])

    @property
    def _type_spec(self):
        return DistributedDatasetSpec(self._facts)


class DistributedDatasetSpec(_DatasetsSpec):
    """A DistributedDataset as an argument of a function."""

    value_type = property(lambda self: DistributedDataset)


class DistributedDatasetsFromFunction(_Distributed):
    """Datasets that a function of the user's made, batched for one replica."""

    def __init__(self, strategy, pipelines, contexts, dataset_fn, per_worker=False):
        if per_worker:
            self._per_worker = True
            self._make_one = lambda: DistributedDatasetsFromFunction(strategy, pipelines, contexts, dataset_fn)
            return
        self._datasets = [dataset_fn(one) for one in contexts]
        self._facts = _Facts.of(strategy, pipelines, self._datasets[-1], self._datasets[-1])

    @property
    def _type_spec(self):
        return DistributedDatasetsFromFunctionSpec(self._facts)


class DistributedDatasetsFromFunctionSpec(_DatasetsSpec):
    """A DistributedDatasetsFromFunction as an argument of a function."""

    value_type = property(lambda self: DistributedDatasetsFromFunction)
