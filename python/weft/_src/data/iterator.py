"""Iterators over datasets: objects of the engine that are asked for element after element, eagerly or in a graph."""

import collections

from weft import _weft
from weft._src.raw import raw
from weft._src.data import structure
from weft._src.framework import errors
from weft._src.framework.device import device
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.dtypes import resource, variant
from weft._src.framework.tensor import EagerTensor
from weft._src.framework.type_spec import TensorSpec, TypeSpec
from weft._src.trackable.base import Trackable


def _with_dataset(source, make):
    """What make() gives in the process that has the dataset, whatever the device scope asks for: datasets do not travel."""
    if not isinstance(source, EagerTensor) or _weft.in_graph():
        return make()
    scope, home = _weft.scoped_device(), source.device
    if not scope and home.startswith("/job:localhost/"):
        return make()
    _weft.set_device(home)
    try:
        return make()
    finally:
        _weft.set_device(scope)


class Iterator(CompositeTensor, Trackable):
    """tf.data.Iterator: next(), get_next() and get_next_as_optional()."""

    _fixed_tensors = ()  # of an object: native/function_cache.cc

    def __init__(self, dataset=None, components=None, element_spec=None):
        if dataset is not None:
            self._element_spec = dataset.element_spec
            self._kept = dataset
            self._flat = structure.types_and_shapes(self._element_spec)
            self._resource = _with_dataset(dataset._variant_tensor, lambda: raw.AnonymousIteratorV3(**self._flat))
            raw.MakeIterator(dataset=dataset._variant_tensor, iterator=self._resource)
        else:
            self._element_spec, self._resource = element_spec, components
            self._flat = structure.types_and_shapes(element_spec)
        self._plain = isinstance(self._element_spec, TensorSpec)
        self._fixed_tensors = (self._resource,)

    @property
    def element_spec(self):
        return self._element_spec

    @property
    def _type_spec(self):
        return IteratorSpec(self._element_spec)

    @property
    def _iterator_resource(self):
        return self._resource

    def __iter__(self):
        return self

    def _next(self):
        if not self._flat["output_types"]:
            # The engine's op wants a component: one whose elements are all None is asked through an optional.
            optional = raw.IteratorGetNextAsOptional(iterator=self._resource, **self._flat)
            if not raw.OptionalHasValue(optional=optional):
                raise errors.OutOfRangeError(None, None, "End of sequence")
            return structure.from_tensors(self._element_spec, [])
        flat = self._placed(raw.IteratorGetNext(iterator=self._resource, **self._flat))
        _weft.wait_for_op(flat[0])  # in another task: the end must be known here
        return flat[0] if self._plain else structure.from_tensors(self._element_spec, flat)

    def _placed(self, flat):
        return flat

    def __next__(self):
        try:
            return self._next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    def next(self):
        return self.__next__()

    def get_next(self):
        return self._next()

    def get_next_as_optional(self):
        return Optional(raw.IteratorGetNextAsOptional(iterator=self._resource, **self._flat), self._element_spec)

    # Checkpoint.save(iterator) keeps where it is.
    def _serialize_to_tensors(self):
        return {"ITERATOR_STATE": raw.SerializeIterator(resource_handle=self._resource, external_state_policy=0)}

    def _restore_from_tensors(self, restored):
        raw.DeserializeIterator(resource_handle=self._resource, serialized=restored["ITERATOR_STATE"])

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {}


class OwnedIterator(Iterator):
    """The iterator that a dataset gives: it holds what it reads."""


class DeviceIterator(OwnedIterator):
    """One whose elements lie on a device (prefetch_to_device, copy_to_device): so many are copied there before they are asked for."""

    def __init__(self, dataset, target, ahead):
        super().__init__(dataset)
        self._target, self._ahead = target, ahead
        self._copied, self._ended = collections.deque(), None

    def _placed(self, flat):
        with device(self._target):
            return [raw.Identity(input=t) for t in flat]

    def _next(self):
        if _weft.in_graph():
            return super()._next()
        while self._ended is None and len(self._copied) <= self._ahead:
            try:
                self._copied.append(super()._next())
            except errors.OutOfRangeError as e:
                self._ended = e
        if not self._copied:
            raise self._ended
        return self._copied.popleft()

    def _serialize_to_tensors(self):
        raise errors.UnimplementedError(
            None, None, "an iterator whose elements are copied to a device ahead has no state to save"
        )


class IteratorSaveable:
    """Where an iterator stands, in the place of a variable of tf.compat.v1.train.Saver."""

    dtype = variant

    def __init__(self, iterator):
        self._resource = iterator._iterator_resource
        self.name, self.op = self._resource.name, self._resource.op

    def _has_state(self):
        return False

    def value(self):
        return raw.SerializeIterator(resource_handle=self._resource, external_state_policy=2)

    def restore(self, value):
        return raw.DeserializeIterator(resource_handle=self._resource, serialized=value)


class IteratorSpec(TypeSpec):
    """tf.data.IteratorSpec: an iterator as an argument of a function."""

    value_type = Iterator

    def __init__(self, element_spec):
        self._element_spec = element_spec

    def _serialize(self):
        return (self._element_spec,)

    @property
    def _component_specs(self):
        return (TensorSpec([], resource),)

    def _to_components(self, value):
        return (value._resource,)

    def _from_components(self, components):
        return OwnedIterator(components=components[0], element_spec=self._element_spec)

    @staticmethod
    def from_value(value):
        return IteratorSpec(value.element_spec)


class Optional(CompositeTensor):
    """tf.experimental.Optional: an element, or none."""

    def __init__(self, tensor, element_spec, spec=None):
        self._variant_tensor, self._element_spec = tensor, element_spec
        self._spec = spec  # of the first element spec: keras sets another one

    @staticmethod
    def from_value(value):
        value = structure.normalize(value)
        spec = structure.spec_of(value)
        return Optional(raw.OptionalFromValue(components=structure.to_tensors(spec, value)), spec)

    @staticmethod
    def empty(element_spec):
        return Optional(raw.OptionalNone(), element_spec)

    none_from_structure = empty

    def has_value(self, name=None):
        return raw.OptionalHasValue(optional=self._variant_tensor, name=name)

    def get_value(self, name=None):
        if self._spec is None or self._spec._element_spec is not self._element_spec:
            self._spec = OptionalSpec(self._element_spec)
        flat = raw.OptionalGetValue(optional=self._variant_tensor, name=name, **self._spec._types_and_shapes())
        return structure.from_tensors(self._element_spec, flat)

    @property
    def element_spec(self):
        return self._element_spec

    @property
    def value_structure(self):
        return self._element_spec

    @property
    def _type_spec(self):
        return OptionalSpec(self._element_spec)


class OptionalSpec(TypeSpec):
    """tf.OptionalSpec."""

    value_type = Optional
    _described = None

    def __init__(self, element_spec):
        self._element_spec = element_spec

    def _types_and_shapes(self):
        if self._described is None:
            self._described = structure.types_and_shapes(self._element_spec)
        return self._described

    def _serialize(self):
        return (self._element_spec,)

    @property
    def _component_specs(self):
        return [TensorSpec([], variant)]

    def _to_components(self, value):
        return [value._variant_tensor]

    def _from_components(self, components):
        return Optional(components[0], self._element_spec, self)

    @staticmethod
    def from_value(value):
        return OptionalSpec(value.element_spec)

    def _batch(self, batch_size):
        raise NotImplementedError("batching of tf.experimental.Optional")

    def _unbatch(self):
        raise NotImplementedError("unbatching of tf.experimental.Optional")

    def _to_legacy_output_types(self):
        return self

    _to_legacy_output_shapes = _to_legacy_output_classes = _to_legacy_output_types


class NumpyIterator:
    """Dataset.as_numpy_iterator: elements as numpy values."""

    __slots__ = ["_iterator"]

    def __init__(self, dataset):
        self._iterator = iter(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return structure.map_leaves(_to_numpy, next(self._iterator))

    def next(self):
        return self.__next__()

    def __repr__(self):
        return f"NumpyIterator(iterator={self._iterator!r})"


def _to_numpy(value):
    if value is None:
        return None
    if hasattr(value, "numpy"):
        array = value.numpy()
        if hasattr(array, "setflags"):
            array.setflags(write=False)
        return array
    if hasattr(value, "indices") and hasattr(value, "dense_shape"):
        from weft._src.ops.sparse_ops import to_dense

        return to_dense(value).numpy()
    raise TypeError(f"Unsupported element type for `as_numpy_iterator`: {type(value)}")
