"""tf.compat.v1.data: tf.data with iterators that sessions initialise."""

import uuid

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import nest

ONE_SHOT = "_weft_one_shot_iterators"  # the collection whose ops a session runs before anything else


class Iterator:
    """An iterator of a graph: get_next() is a node, initializer an op."""

    def __init__(self, spec, handle, initializer=None):
        self._spec, self._handle, self._initializer = spec, handle, initializer

    @property
    def initializer(self):
        if self._initializer is None:
            raise ValueError(
                "The iterator does not have an initializer. This means it was likely created using `tf.data.Dataset.make_one_shot_iterator()`. For an "
                "initializable iterator, use `tf.data.Dataset.make_initializable_iterator()` instead."
            )
        return self._initializer

    @property
    def element_spec(self):
        return self._spec

    @property
    def _iterator_resource(self):
        return self._handle

    @property
    def output_types(self):
        return _each(self._spec, lambda s: s._to_legacy_output_types())

    @property
    def output_shapes(self):
        return _each(self._spec, lambda s: s._to_legacy_output_shapes())

    def get_next(self, name=None):
        """The next element, as tensors of the graph."""
        from weft._src.data import structure

        flat = raw.IteratorGetNext(iterator=self._handle, **structure.types_and_shapes(self._spec), name=name)
        return structure.from_tensors(self._spec, list(flat) if isinstance(flat, (list, tuple)) else [flat])

    def make_initializer(self, dataset, name=None):
        return raw.MakeIterator(dataset=dataset._variant_tensor, iterator=self._handle, name=name)

    def string_handle(self, name=None):
        return raw.IteratorToStringHandle(resource_handle=self._handle, name=name)

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator for datasets of this structure; make_initializer binds one."""
        from weft._src.framework.type_spec import TensorSpec

        if output_shapes is None:
            spec = nest.map_structure(lambda t: TensorSpec(None, t), output_types)
        else:
            spec = nest.map_structure_up_to(output_types, lambda t, s: TensorSpec(s, t), output_types, output_shapes)
        return Iterator(spec, _handle(spec, shared_name))


def _handle(spec, shared_name=None):
    from weft._src.data import structure

    return raw.IteratorV2(
        shared_name=shared_name or f"iterator_{uuid.uuid4()}", container="", **structure.types_and_shapes(spec)
    )


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator that starts when its initializer runs."""
    if not _weft.in_graph():
        raise RuntimeError(
            "dataset.make_initializable_iterator is not supported when eager execution is enabled. Use `for element in dataset` instead."
        )
    made = Iterator(dataset.element_spec, _handle(dataset.element_spec, shared_name))
    made._initializer = made.make_initializer(dataset)
    return made


def make_one_shot_iterator(dataset):
    """An iterator that is ready; eagerly, that of a for loop."""
    if not _weft.in_graph():
        return iter(dataset)
    made = Iterator(dataset.element_spec, _handle(dataset.element_spec))
    _weft.current_graph().add_to_collection(ONE_SHOT, made.make_initializer(dataset))
    return made


def _each(spec, of):
    return nest.map_structure(of, spec)


def get_output_types(dataset_or_iterator):
    return _each(dataset_or_iterator.element_spec, lambda s: s._to_legacy_output_types())


def get_output_shapes(dataset_or_iterator):
    return _each(dataset_or_iterator.element_spec, lambda s: s._to_legacy_output_shapes())


def get_output_classes(dataset_or_iterator):
    return _each(dataset_or_iterator.element_spec, lambda s: s._to_legacy_output_classes())


def __getattr__(name):
    import weft.data as v2

    try:
        return getattr(v2, name)
    except AttributeError:
        raise AttributeError(f"module 'tensorflow._api.v2.compat.v1.data' has no attribute {name!r}") from None
