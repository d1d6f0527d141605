"""tf.compat.v1.data: tf.data with iterators that sessions initialise."""

import uuid

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import nest

ONE_SHOT = "_weft_one_shot_iterators"  # the collection whose ops a session runs before anything else


class Iterator:
    """An iterator of a graph: get_next() is a node, initializer an op."""

    def __init__(self, iterator_resource, initializer, output_types, output_shapes, output_classes):
        self._handle, self._initializer = iterator_resource, initializer
        self._spec = _specs(output_types, output_shapes, output_classes)

    @classmethod
    def _of(cls, spec, handle):
        made = cls.__new__(cls)
        made._spec, made._handle, made._initializer = spec, handle, None
        return made

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
        spec = _specs(output_types, output_shapes, output_classes)
        return Iterator._of(spec, _handle(spec, shared_name))


def _specs(types, shapes, classes):
    """Specs of what version 1 told by types, shapes and classes."""
    from weft._src.framework.type_spec import TensorSpec
    from weft._src.ops.sparse_tensor import SparseTensor, SparseTensorSpec

    shapes = nest.map_structure(lambda t: None, types) if shapes is None else shapes
    classes = nest.map_structure(lambda t: None, types) if classes is None else classes

    def one(dtype, shape, cls):
        return SparseTensorSpec(shape, dtype) if cls is SparseTensor else TensorSpec(shape, dtype)

    return nest.map_structure_up_to(types, one, types, shapes, classes)


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
    made = Iterator._of(dataset.element_spec, _handle(dataset.element_spec, shared_name))
    made._initializer = made.make_initializer(dataset)
    return made


def make_one_shot_iterator(dataset):
    """An iterator that is ready; eagerly, that of a for loop."""
    if not _weft.in_graph():
        return iter(dataset)
    made = Iterator._of(dataset.element_spec, _handle(dataset.element_spec))
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


# ---- structures of elements, as version 1 named them -----------------------------------------------------


def __getattr__(name):
    if name == "Structure":
        from weft._src.framework.type_spec import TypeSpec

        return TypeSpec
    raise AttributeError(name)


def TensorStructure(dtype, shape):  # noqa: N802: TensorFlow's name
    from weft._src.framework.type_spec import TensorSpec

    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype, shape):  # noqa: N802
    from weft._src.ops.sparse_tensor import SparseTensorSpec

    return SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype, shape, ragged_rank):  # noqa: N802
    from weft._src.ops.ragged.ragged_tensor import RaggedTensorSpec

    return RaggedTensorSpec(shape, dtype, ragged_rank)


def TensorArrayStructure(dtype, element_shape, dynamic_size, infer_shape):  # noqa: N802
    from weft._src.ops.tensor_array import TensorArraySpec

    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)


def map_and_batch_with_legacy_function(
    map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None
):
    """map and batch in one step."""
    from weft._src.data.experimental import map_and_batch

    return map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls)
