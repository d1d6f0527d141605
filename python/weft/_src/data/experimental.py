"""tf.data.experimental."""

import importlib

from weft import _weft
from weft._src.namespace import missing
from weft._src.raw import raw
from weft._src.data import structure, traced
from weft._src.data.dataset import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Dataset,
    DatasetSpec as DatasetStructure,
    make,
)  # noqa: F401
from weft._src.data.iterator import Iterator, IteratorSaveable, NumpyIterator, Optional, OptionalSpec, OwnedIterator  # noqa: F401
from weft._src.data.options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)  # noqa: F401
from weft._src.data.readers import CsvDataset, SqlDataset, make_csv_dataset  # noqa: F401
from weft._src.data.save import load as _load, save as _save
from weft._src.data.tables import DatasetInitializer, index_table_from_dataset, table_from_dataset  # noqa: F401
from weft._src.data.traced import TracedFunction
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.type_spec import TensorSpec

OptionalStructure = OptionalSpec
SHARD_HINT = -1  # as num_shards of Dataset.shard: tf.distribute says how many


def Counter(start=0, step=1, dtype=dtypes.int64):
    """Whole numbers without end."""
    dtype = dtypes.as_dtype(dtype)
    start, step = convert_to_tensor(start, dtype), convert_to_tensor(step, dtype)
    return Dataset.from_tensors(0).repeat(None).scan(start, lambda state, _: (state + step, state))


def RandomDataset(seed=None, rerandomize_each_iteration=None, name=None):
    return Dataset.random(seed, rerandomize_each_iteration)


def cardinality(dataset):
    return dataset.cardinality()


def assert_cardinality(expected_cardinality):
    def apply(dataset):
        return dataset._unary(
            "_AssertCardinalityDataset",
            raw.AssertCardinalityDataset,
            cardinality=convert_to_tensor(expected_cardinality, dtypes.int64),
        )

    return apply


def get_next_as_optional(iterator):
    return iterator.get_next_as_optional()


def get_single_element(dataset):
    return dataset.get_single_element()


def get_structure(dataset_or_iterator):
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            f"Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator object, but got {type(dataset_or_iterator)}."
        ) from None


def to_variant(dataset):
    return dataset._variant_tensor


def from_variant(variant, structure):
    return make("_VariantDataset", variant, structure)


def at(dataset, index):
    """One element, where it can be told without those before it."""
    index = convert_to_tensor(index, dtypes.int64)
    flat = raw.GetElementAtIndex(dataset=dataset._variant_tensor, index=index, **dataset._flat)
    return structure.from_tensors(dataset.element_spec, flat)


def from_list(elements, name=None):
    """A dataset of the elements of a list; their shapes may differ."""
    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use `tf.data.Dataset.range(0)`."
        )
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    from weft._src.framework import nest

    elements = [structure.normalize(element) for element in elements]
    specs = [structure.spec_of(element) for element in elements]
    spec = specs[0]
    for other in specs[1:]:
        nest.assert_same_structure(specs[0], other)
        spec = structure.common(spec, other)
        if spec is None:
            raise TypeError(f"Invalid `elements`. Elements must have compatible types: {specs[0]} and {other}.")
    tensors = [t for element in elements for t in structure.to_tensors(spec, element)]
    return make("_ListDataset", raw.ListDataset(tensors=tensors, **structure.types_and_shapes(spec)), spec)


def pad_to_cardinality(cardinality, mask_key="valid"):
    """Adds elements of zeros up to a number of elements; `mask_key` tells which are real."""

    def apply(dataset):
        known = not _weft.in_graph()
        if known and dataset.cardinality() < 0:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has cardinality "
                f"{dataset.cardinality()}"
            )
        if known and dataset.cardinality() > cardinality:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a cardinalty less than the target cardinality "
                f"({cardinality}), but has cardinality {dataset.cardinality()}"
            )
        if not isinstance(dataset.element_spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        from weft._src.ops.creation_ops import zeros

        filler = structure.map_leaves(lambda spec: zeros(spec.shape, spec.dtype), dataset.element_spec)
        filler = Dataset.from_tensors({**filler, mask_key: False}).repeat(cardinality - dataset.cardinality())
        return dataset.map(lambda element: {**element, mask_key: True}).concatenate(filler)

    return apply


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """Batches of serialized Examples to dicts of their features."""
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def apply(dataset):
        from weft._src.ops.parsing_ops import parse_example

        if not structure.compatible(dataset.element_spec, TensorSpec([None], dtypes.string)):
            raise TypeError(
                f"Input dataset should be a dataset of vectors of strings. Instead it is `{dataset.element_spec}`."
            )
        return dataset.map(
            lambda batch: parse_example(batch, features),
            num_parallel_calls=num_parallel_calls,
            deterministic=deterministic,
        )

    return apply


def get_model_proto(iterator):
    """How an iterator is tuned. Nothing is tuned here: NotFoundError, as for one whose autotune is off."""
    iterator = iterator._iterator if isinstance(iterator, NumpyIterator) else iterator
    if not isinstance(iterator, OwnedIterator):
        raise ValueError("Only supports `tf.data.Iterator`-typed `iterator`.")
    if _weft.in_graph():
        raise ValueError("get_model_proto is not supported in graph mode.")
    return raw.IteratorGetModelProto(iterator=iterator._iterator_resource)


def make_saveable_from_iterator(iterator, external_state_policy=None):
    """What tf.compat.v1.train.Saver needs to keep where an iterator stands."""
    if external_state_policy not in (None, "warn", "ignore", "fail"):
        raise ValueError(
            f"Invalid `ExternalStatePolicy.` Supported values include 'warn', 'ignore', and 'fail.' Received {external_state_policy}."
        )
    return IteratorSaveable(iterator)


def ignore_errors(log_warning=False):
    return lambda dataset: dataset.ignore_errors(log_warning)


def unbatch():
    return lambda dataset: dataset.unbatch()


def unique():
    return lambda dataset: dataset.unique()


def enumerate_dataset(start=0):
    return lambda dataset: dataset.enumerate(start)


def scan(initial_state, scan_func):
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate):
    return lambda dataset: dataset.take_while(predicate)


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def bucket_by_sequence_length(
    element_length_func,
    bucket_boundaries,
    bucket_batch_sizes,
    padded_shapes=None,
    padding_values=None,
    pad_to_bucket_boundary=False,
    no_padding=False,
    drop_remainder=False,
):
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


def dense_to_sparse_batch(batch_size, row_shape):
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64):
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None, prefetch_input_elements=None
):
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, cycle_length, deterministic=not sloppy
    )


def prefetch_to_device(device, buffer_size=None):
    return lambda dataset: dataset.prefetch_to_device(device, buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    return lambda dataset: dataset._copied_to(target_device, 0)


def snapshot(path, compression="AUTO", reader_func=None, shard_func=None):
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    _save(dataset, path, compression, shard_func, checkpoint_args)


def load(path, element_spec=None, compression=None, reader_func=None):
    return _load(path, element_spec, compression, reader_func)


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def _directed(selector, datasets, stop_on_empty):
    spec = datasets[0].element_spec
    for i, dataset in enumerate(datasets[1:]):
        both = structure.common(spec, dataset.element_spec)
        if both is None:
            raise TypeError(
                f"Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset 0 element_spec={datasets[0].element_spec}.\n Dataset {i + 1} "
                f"element_spec={dataset.element_spec}."
            )
        spec = both
    variant = raw.DirectedInterleaveDataset(
        selector_input_dataset=selector._variant_tensor,
        data_input_datasets=[d._variant_tensor for d in datasets],
        stop_on_empty_dataset=stop_on_empty,
        **structure.types_and_shapes(spec),
    )
    return make("_DirectedInterleaveDataset", variant, spec, [selector, *datasets])


def sample(datasets, weights, seed, stop_on_empty):
    """Elements of several datasets, taken at random."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if isinstance(weights, Dataset):
        logits = weights.map(lambda *p: raw.ExpandDims(input=raw.Log(x=convert_to_tensor(p[0])), dim=0))
    else:
        weights = [1.0] * len(datasets) if weights is None else weights
        given = convert_to_tensor(weights, dtype_hint=dtypes.float32)
        if given.shape.rank is not None and given.shape != (len(datasets),):
            if given.shape.rank == 1:
                raise ValueError(
                    f"Invalid `weights`. `weights` should have the same length as `datasets` but got `len(weights)={given.shape[0]}` vs. "
                    f"`len(datasets)={len(datasets)}`."
                )
            raise ValueError(
                f"Invalid `weights`. The shape of `weights` should be compatible with `[len(datasets)]` but is {given.shape}."
            )
        if len(datasets) == 1:
            return datasets[0]
        logits = Dataset.from_tensors(raw.ExpandDims(input=raw.Log(x=given), dim=0)).repeat()

    def choose(logits, seed):
        return raw.Squeeze(input=raw.StatelessMultinomial(logits=logits, num_samples=1, seed=seed), squeeze_dims=[0, 1])

    selector = Dataset.zip((logits, Dataset.random(seed=seed).batch(2))).map(choose)
    return _directed(selector, datasets, stop_on_empty)


def make_batched_features_dataset(
    file_pattern,
    batch_size,
    features,
    reader=None,
    label_key=None,
    reader_args=None,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    reader_num_threads=None,
    parser_num_threads=None,
    sloppy_ordering=False,
    drop_final_batch=False,
):
    """TFRecord files of tf.train.Example, parsed and batched."""
    from weft._src.data.readers import TFRecordDataset
    from weft._src.ops.parsing_ops import parse_example

    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    dataset = files.interleave(
        lambda name: (reader or TFRecordDataset)(name, *(reader_args or [])), cycle_length=reader_num_threads or 1
    )
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None).map(
        lambda x: parse_example(x, features)
    )
    if label_key:
        dataset = dataset.map(lambda x: (x, x.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


class Reducer:
    """tf.data.experimental.Reducer: how elements of one key are put together."""

    def __init__(self, init_func, reduce_func, finalize_func):
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


def group_by_reducer(key_func, reducer):
    def apply(dataset):
        int64 = TensorSpec([], dtypes.int64)
        key = TracedFunction(key_func, "group_by_reducer", dataset.element_spec)
        init = TracedFunction(reducer.init_func, "group_by_reducer", int64)
        reduce = TracedFunction(reducer.reduce_func, "group_by_reducer", (init.output_spec, dataset.element_spec))
        final = TracedFunction(reducer.finalize_func, "group_by_reducer", init.output_spec)
        return dataset._unary(
            "_GroupByReducerDataset",
            raw.GroupByReducerDataset,
            final.output_spec,
            [key, init, reduce, final],
            key_func=key,
            key_func_other_arguments=key.captures,
            init_func=init,
            init_func_other_arguments=init.captures,
            reduce_func=reduce,
            reduce_func_other_arguments=reduce.captures,
            finalize_func=final,
            finalize_func_other_arguments=final.captures,
        )

    return apply


class TFRecordWriter:
    """tf.data.experimental.TFRecordWriter: writes a dataset of bytes."""

    def __init__(self, filename, compression_type=None):
        self._filename, self._compression = filename, compression_type or ""

    def write(self, dataset):
        if dataset.element_spec != TensorSpec([], dtypes.string):
            raise TypeError(f"`dataset` must contain scalar `tf.string` elements, but has {dataset.element_spec}.")
        return raw.DatasetToTFRecord(
            input_dataset=dataset._variant_tensor, filename=self._filename, compression_type=self._compression
        )


def enable_debug_mode():
    """From now on, the functions of datasets run as Python code, on the values of each element."""
    if _weft.in_graph():
        raise ValueError("`enable_debug_mode() is only supported in eager mode.")
    traced.debugging = True
