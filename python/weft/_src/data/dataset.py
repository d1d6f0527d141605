"""tf.data.Dataset: a dataset is a value of the engine (a variant tensor); every transformation is an op that makes another."""

from weft._src import public_modules as _public_modules

from weft import _weft
from weft._src.raw import raw
from weft._src.data import structure
from weft._src.data.iterator import DeviceIterator, NumpyIterator, OwnedIterator
from weft._src.data.options import ExternalStatePolicy, Options
from weft._src.data.traced import TracedFunction, scalar_bool
from weft._src.framework import dtypes
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor_shape import TensorShape, as_shape
from weft._src.framework.type_spec import TensorSpec, TypeSpec
from weft._src.trackable.base import Trackable

AUTOTUNE = -1
_COPIED_AHEAD = 2  # elements, by prefetch_to_device
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
_classes = {}


def _seeds(seed):
    """The two seeds of an op, int64, by tf.random.set_seed's rules."""
    from weft._src.framework import random_seed

    seed, seed2 = random_seed.get_seed(seed)
    seed = 0 if seed is None else seed
    seed2 = 0 if seed2 is None else seed2
    return convert_to_tensor(seed, dtypes.int64), convert_to_tensor(seed2, dtypes.int64)


def _count(value, default=None):
    return convert_to_tensor(default if value is None else value, dtypes.int64)


def make(name, variant, spec, inputs=(), functions=()):
    """A dataset under the name of the class that TensorFlow would show."""
    cls = _classes.get(name)
    if cls is None:
        module = Dataset.__module__
        if module.startswith("tensorflow"):
            module = _public_modules.dataset_module(name)
        cls = _classes[name] = type(name, (Dataset,), {"__module__": module})
    self = cls.__new__(cls)
    Dataset._set_up(self, variant, spec, inputs, functions)
    return self


class Dataset(CompositeTensor, Trackable):
    """Elements that come one after another."""

    def __init__(self, variant_tensor):
        # Subclasses of the user's say what they hold by element_spec.
        self._set_up(variant_tensor, None)

    _target = None  # the device that its elements are copied to, and how many ahead

    def _set_up(self, variant, spec, inputs=(), functions=()):
        self._variant_tensor = variant
        self._spec = spec
        self._input_datasets = tuple(inputs)
        self._functions = tuple(functions)  # held: the engine knows them by name
        self._options_value = None

    @property
    def element_spec(self):
        return self._spec

    def _inputs(self):
        return list(self._input_datasets)

    @property
    def _type_spec(self):
        return DatasetSpec.from_value(self)

    def _as_serialized_graph(
        self, allow_stateful=None, strip_device_assignment=None, external_state_policy=ExternalStatePolicy.WARN
    ):
        """The ops that made the dataset, as a serialized GraphDef."""
        return raw.DatasetToGraphV2(
            input_dataset=self._variant_tensor,
            external_state_policy=(external_state_policy or ExternalStatePolicy.WARN).value,
            strip_device_assignment=bool(strip_device_assignment),
        )

    @property
    def _flat(self):
        return structure.types_and_shapes(self.element_spec)

    def _unary(self, name, op, spec=None, functions=(), **arguments):
        spec = self.element_spec if spec is None else spec
        variant = op(input_dataset=self._variant_tensor, **arguments, **structure.types_and_shapes(spec))
        return make(name, variant, spec, [self], functions)

    # ---- reading

    def __iter__(self):
        if _weft.in_graph() and not _weft.current_graph().building_function:
            raise RuntimeError(
                "`tf.data.Dataset` only supports Python-style iteration in eager mode or within tf.function."
            )
        return DeviceIterator(self, *self._target) if self._target else OwnedIterator(self)

    def __bool__(self):
        return True

    __nonzero__ = __bool__

    def __len__(self):
        if _weft.in_graph():
            raise TypeError(
                "`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` instead."
            )
        length = int(self.cardinality())
        if length == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if length == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return length

    def as_numpy_iterator(self):
        if _weft.in_graph():
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        for leaf in structure.flatten(self.element_spec):
            if not (
                isinstance(leaf, (TensorSpec, structure.NoneTensorSpec))
                or type(leaf).__name__ in ("RaggedTensorSpec", "SparseTensorSpec")
            ):
                raise TypeError(
                    f"`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type {leaf.value_type}"
                )
        return NumpyIterator(self)

    def cardinality(self, name=None):
        return raw.DatasetCardinality(input_dataset=self._variant_tensor)

    def get_single_element(self, name=None):
        flat = raw.DatasetToSingleElement(dataset=self._variant_tensor, **self._flat)
        return structure.from_tensors(self.element_spec, flat)

    def reduce(self, initial_state, reduce_func, name=None):
        state = structure.normalize(initial_state)
        spec = structure.spec_of(state)
        for _ in range(8):
            traced = TracedFunction(reduce_func, "reduce", (spec, self.element_spec))
            relaxed = self._checked_state(spec, traced.output_spec, "reduce_func")
            if relaxed == spec:
                break
            spec = relaxed
        flat = raw.ReduceDataset(
            input_dataset=self._variant_tensor,
            initial_state=structure.to_tensors(spec, state),
            other_arguments=traced.captures,
            f=traced,
            **structure.types_and_shapes(spec),
        )
        return structure.from_tensors(spec, flat)

    @staticmethod
    def _checked_state(spec, new, what):
        if not structure.same_types(spec, new):
            raise TypeError(
                f"The element types for the new state must match the initial state. Expected {structure.legacy(spec, 'types')}; got {structure.legacy(new, 'types')}."
            )
        relaxed = structure.common(spec, new)
        if relaxed is None:
            raise TypeError(
                f"The element structure for the new state must match the initial state: {what} gave {new}, not {spec}."
            )
        return relaxed

    def enumerate(self, start=0, name=None):
        import sys

        return Dataset.zip((Dataset.range(start, sys.maxsize), self))

    # ---- sources

    @staticmethod
    def from_tensors(tensors, name=None):
        element = structure.normalize(tensors)
        spec = structure.spec_of(element)
        flat = structure.to_tensors(spec, element)
        variant = raw.TensorDataset(components=flat, output_shapes=structure.types_and_shapes(spec)["output_shapes"])
        return make("_TensorDataset", variant, spec)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        element = structure.normalize(tensors)
        spec = structure.spec_of(element)
        leaves = structure.flatten(element)
        if element is None:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        if not leaves:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        for leaf in leaves:
            if getattr(leaf, "shape", None) is not None and leaf.shape.rank == 0:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        flat = structure.to_batched_tensors(spec, element)
        sizes = {t.shape[0] for t in flat if t.shape.rank and t.shape[0] is not None and t.dtype != dtypes.variant}
        if len(sizes) > 1:
            first, other = (
                [t.shape[0] for t in flat][0],
                next(t.shape[0] for t in flat if t.shape[0] != flat[0].shape[0]),
            )
            raise ValueError(f"Dimensions {first} and {other} are not compatible")
        spec = structure.unbatched(spec)
        variant = raw.TensorSliceDataset(
            components=flat, output_shapes=structure.types_and_shapes(spec)["output_shapes"]
        )
        return make("_TensorSliceDataset", variant, spec)

    @staticmethod
    def range(*args, **kwargs):
        dtype = dtypes.as_dtype(kwargs.pop("output_type", dtypes.int64))
        kwargs.pop("name", None)
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
        spec = TensorSpec([], dtype)
        variant = raw.RangeDataset(
            start=_count(start), stop=_count(stop), step=_count(step), **structure.types_and_shapes(spec)
        )
        return make("_RangeDataset", variant, spec)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        from weft._src.data.generator import from_generator

        return from_generator(generator, output_types, output_shapes, args, output_signature)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        from weft._src.framework.errors import InvalidArgumentError

        pattern = convert_to_tensor(file_pattern, dtypes.string)
        matching = raw.MatchingFiles(pattern=pattern)
        if not _weft.in_graph() and int(raw.Size(input=matching)) == 0:
            names = ", ".join(p.decode() for p in (pattern._flat_list()))
            raise InvalidArgumentError(
                None,
                None,
                f"Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: {f'No files matched pattern: {names}'.encode()}",
            )
        made = Dataset.from_tensor_slices(matching)
        if shuffle is None or shuffle:
            made = made.shuffle(max(1, int(raw.Size(input=matching))) if not _weft.in_graph() else 1 << 20, seed=seed)
        return made

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        seed, seed2 = _seeds(seed)
        spec = TensorSpec([], dtypes.int64)
        if rerandomize_each_iteration is None:
            variant = raw.RandomDataset(seed=seed, seed2=seed2, **structure.types_and_shapes(spec))
        else:
            variant = raw.RandomDatasetV2(
                seed=seed,
                seed2=seed2,
                seed_generator=raw.DummySeedGenerator(),
                rerandomize_each_iteration=rerandomize_each_iteration,
                **structure.types_and_shapes(spec),
            )
        return make("_RandomDataset", variant, spec)

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        from weft._src.data.experimental import Counter

        return Counter(start, step, dtype)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        given = datasets if datasets is not None else args[0] if len(args) == 1 else tuple(args)
        parts = [given] if isinstance(given, list) else structure.flatten(given)
        for part in parts:
            if isinstance(part, list):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects. Python `list` is not supported and you should "
                    "use `tuple` instead."
                )
            if not isinstance(part, Dataset):
                raise TypeError(
                    f"Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects but encountered object of type {type(part)}."
                )
        spec = structure.pack(given, [p.element_spec for p in parts])
        variant = raw.ZipDataset(input_datasets=[p._variant_tensor for p in parts], **structure.types_and_shapes(spec))
        return make("_ZipDataset", variant, spec, parts)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        from weft._src.data.experimental import _directed

        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if choice_dataset.element_spec != TensorSpec([], dtypes.int64):
            raise TypeError(
                f"Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are {choice_dataset.element_spec}."
            )
        return _directed(choice_dataset, datasets, stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(
        datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=None
    ):
        from weft._src.data.experimental import sample

        return sample(datasets, weights, seed, stop_on_empty_dataset)

    @staticmethod
    def from_tensor_list_slices(tensors):
        return Dataset.from_tensor_slices(tensors)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
        from weft._src.data.save import load

        return load(path, element_spec, compression, reader_func, wait)

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        from weft._src.data.save import save

        return save(self, path, compression, shard_func, checkpoint_args)

    # ---- transformations

    def map(
        self,
        map_func,
        num_parallel_calls=None,
        deterministic=None,
        synchronous=None,
        use_unbounded_threadpool=False,
        name=None,
    ):
        traced = TracedFunction(map_func, "map", self.element_spec)
        common = dict(other_arguments=traced.captures, f=traced, preserve_cardinality=True)
        if num_parallel_calls is None:
            return self._unary(
                "_MapDataset", raw.MapDataset, traced.output_spec, [traced], use_inter_op_parallelism=True, **common
            )
        return self._unary(
            "_ParallelMapDataset",
            raw.ParallelMapDatasetV2,
            traced.output_spec,
            [traced],
            num_parallel_calls=_count(num_parallel_calls),
            use_inter_op_parallelism=True,
            deterministic=_deterministic(deterministic),
            **common,
        )

    def flat_map(self, map_func, name=None):
        traced = TracedFunction(map_func, "flat_map", self.element_spec)
        return self._unary(
            "_FlatMapDataset",
            raw.FlatMapDataset,
            _inner(traced, "flat_map"),
            [traced],
            other_arguments=traced.captures,
            f=traced,
        )

    def interleave(
        self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None, name=None
    ):
        traced = TracedFunction(map_func, "interleave", self.element_spec)
        spec = _inner(traced, "interleave")
        block = _count(block_length, 1)
        if num_parallel_calls is None:
            cycle = _count(cycle_length, _cpus())
            return self._unary(
                "_InterleaveDataset",
                raw.InterleaveDataset,
                spec,
                [traced],
                other_arguments=traced.captures,
                f=traced,
                cycle_length=cycle,
                block_length=block,
            )
        cycle = _count(cycle_length, AUTOTUNE if num_parallel_calls == AUTOTUNE else num_parallel_calls)
        return self._unary(
            "_ParallelInterleaveDataset",
            raw.ParallelInterleaveDatasetV4,
            spec,
            [traced],
            other_arguments=traced.captures,
            f=traced,
            cycle_length=cycle,
            block_length=block,
            buffer_output_elements=_count(-1),
            prefetch_input_elements=_count(-1),
            num_parallel_calls=_count(num_parallel_calls),
            deterministic=_deterministic(deterministic),
        )

    def filter(self, predicate, name=None):
        traced = TracedFunction(predicate, "filter", self.element_spec)
        scalar_bool(traced, "predicate")
        return self._unary(
            "_FilterDataset", raw.FilterDataset, None, [traced], other_arguments=traced.captures, predicate=traced
        )

    def take_while(self, predicate, name=None):
        traced = TracedFunction(predicate, "take_while", self.element_spec)
        scalar_bool(traced, "predicate", " but its return type is")
        return self._unary(
            "_TakeWhileDataset", raw.TakeWhileDataset, None, [traced], other_arguments=traced.captures, predicate=traced
        )

    def scan(self, initial_state, scan_func, name=None):
        state = structure.normalize(initial_state)
        spec = structure.spec_of(state)
        for _ in range(8):
            traced = TracedFunction(scan_func, "scan", (spec, self.element_spec))
            if not (isinstance(traced.output_spec, tuple) and len(traced.output_spec) == 2):
                raise TypeError(
                    f"Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but its return type is {traced.output_spec}."
                )
            relaxed = self._checked_state(spec, traced.output_spec[0], "scan_func")
            if relaxed == spec:
                break
            spec = relaxed
        out = traced.output_spec[1]
        variant = raw.ScanDataset(
            input_dataset=self._variant_tensor,
            initial_state=structure.to_tensors(spec, state),
            other_arguments=traced.captures,
            f=traced,
            preserve_cardinality=True,
            **structure.types_and_shapes(out),
        )
        return make("_ScanDataset", variant, out, [self], [traced])

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        size = convert_to_tensor(batch_size, dtypes.int64)
        known = constant_value(size)
        static = int(known) if known is not None and constant_value(convert_to_tensor(drop_remainder)) else None
        spec = structure.batched(self.element_spec, static)
        drop = convert_to_tensor(drop_remainder, dtypes.bool)
        if num_parallel_calls is None:
            made = self._unary("_BatchDataset", raw.BatchDatasetV2, spec, batch_size=size, drop_remainder=drop)
            made._batch_size = size  # for tf.distribute
            return made
        return self._unary(
            "_ParallelBatchDataset",
            raw.ParallelBatchDataset,
            spec,
            batch_size=size,
            drop_remainder=drop,
            num_parallel_calls=_count(num_parallel_calls),
            deterministic=_deterministic(deterministic),
        )

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        from weft._src.data.batching import padded_batch

        return padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64, name=None):
        from weft._src.data.batching import ragged_batch

        return ragged_batch(self, batch_size, drop_remainder, row_splits_dtype)

    def sparse_batch(self, batch_size, row_shape, name=None):
        from weft._src.data.batching import sparse_batch

        return sparse_batch(self, batch_size, row_shape)

    def bucket_by_sequence_length(
        self,
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes=None,
        padding_values=None,
        pad_to_bucket_boundary=False,
        no_padding=False,
        drop_remainder=False,
        name=None,
    ):
        from weft._src.data.batching import bucket_by_sequence_length

        return bucket_by_sequence_length(
            self,
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            pad_to_bucket_boundary,
            no_padding,
            drop_remainder,
        )

    def unbatch(self, name=None):
        for leaf in structure.flatten(self.element_spec):
            if isinstance(leaf, TensorSpec) and leaf.shape.rank == 0:
                raise ValueError("Cannot unbatch an input with scalar components.")
        spec = structure.unbatched(self.element_spec)
        if any(not isinstance(leaf, TensorSpec) for leaf in structure.flatten(self.element_spec)):
            return self.flat_map(lambda *x: Dataset.from_tensor_slices(x[0] if len(x) == 1 else x))
        return self._unary("_UnbatchDataset", raw.UnbatchDataset, spec)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        sizes = convert_to_tensor(batch_size, dtypes.int64)
        if sizes.shape.rank == 0:
            sizes = raw.ExpandDims(input=sizes, dim=0)
        known = constant_value(sizes)
        size = int(known[0]) if known is not None and len(set(known.tolist())) == 1 else None

        if any(getattr(leaf, "shape", None) == () for leaf in structure.flatten(self.element_spec)):
            raise ValueError(
                "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with scalar elements. Fix the issue by adding the "
                "`batch` transformation to the dataset."
            )

        def part(spec):
            rows = spec.shape[0] if getattr(spec, "shape", None) is not None and spec.shape.rank else None
            exact = size is not None and (drop_remainder or (rows is not None and rows % size == 0))
            return spec._unbatch()._batch(size if exact else None)

        spec = structure.map_leaves(part, self.element_spec)
        return self._unary(
            "_RebatchDataset",
            raw.RebatchDatasetV2,
            spec,
            batch_sizes=sizes,
            drop_remainder=convert_to_tensor(drop_remainder, dtypes.bool),
        )

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        size = _count(size)
        spec = structure.map_leaves(DatasetSpec, self.element_spec)
        variant = raw.WindowDataset(
            input_dataset=self._variant_tensor,
            size=size,
            shift=size if shift is None else _count(shift),
            stride=_count(stride),
            drop_remainder=convert_to_tensor(drop_remainder, dtypes.bool),
            **structure.types_and_shapes(spec),
        )
        return make("_WindowDataset", variant, spec, [self])

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        seed, seed2 = _seeds(seed)
        reshuffle = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        return self._unary(
            "_ShuffleDataset",
            raw.ShuffleDatasetV3,
            buffer_size=_count(buffer_size),
            seed=seed,
            seed2=seed2,
            seed_generator=raw.DummySeedGenerator(),
            reshuffle_each_iteration=reshuffle,
        )

    def repeat(self, count=None, name=None):
        return self._unary("_RepeatDataset", raw.RepeatDataset, count=_count(count, -1))

    def take(self, count, name=None):
        return self._unary("_TakeDataset", raw.TakeDataset, count=_count(count))

    def skip(self, count, name=None):
        return self._unary("_SkipDataset", raw.SkipDataset, count=_count(count))

    def shard(self, num_shards, index, name=None):
        return self._unary("_ShardDataset", raw.ShardDataset, num_shards=_count(num_shards), index=_count(index))

    def prefetch(self, buffer_size, name=None):
        return self._unary("_PrefetchDataset", raw.PrefetchDataset, buffer_size=_count(buffer_size, AUTOTUNE))

    def cache(self, filename="", name=None):
        cache = raw.AnonymousMemoryCache() if not _weft.in_graph() else raw.DummyMemoryCache()
        handle = cache[0] if isinstance(cache, tuple) else cache
        made = self._unary(
            "CacheDataset", raw.CacheDatasetV2, filename=convert_to_tensor(filename, dtypes.string), cache=handle
        )
        made._cache = cache
        return made

    def concatenate(self, dataset, name=None):
        spec = structure.common(self.element_spec, dataset.element_spec)
        if spec is None:
            raise TypeError(f"Incompatible dataset elements:\n  {self.element_spec} vs.   {dataset.element_spec}")
        variant = raw.ConcatenateDataset(
            input_dataset=self._variant_tensor,
            another_dataset=dataset._variant_tensor,
            **structure.types_and_shapes(spec),
        )
        return make("_ConcatenateDataset", variant, spec, [self, dataset])

    def unique(self, name=None):
        for leaf in structure.flat_tensor_specs(self.element_spec):
            if (
                leaf.dtype not in (dtypes.int32, dtypes.int64, dtypes.string)
                or len(structure.flat_tensor_specs(self.element_spec)) != 1
            ):
                raise TypeError(
                    "`tf.data.Dataset.unique` only supports `tf.int32`, `tf.int64` and `tf.string` elements of one component."
                )
        return self._unary("_UniqueDataset", raw.UniqueDataset)

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        from weft._src.data.grouping import group_by_window

        return group_by_window(self, key_func, reduce_func, window_size, window_size_func)

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        from weft._src.data.grouping import rejection_resample

        return rejection_resample(self, class_func, target_dist, initial_dist, seed)

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        from weft._src.data.save import snapshot

        return snapshot(self, path, compression, reader_func, shard_func)

    def ignore_errors(self, log_warning=False, name=None):
        return self._unary("_IgnoreErrorsDataset", raw.IgnoreErrorsDataset, log_warning=log_warning)

    def fingerprint(self):
        return raw.DatasetFingerprint(input_dataset=self._variant_tensor)

    def prefetch_to_device(self, device, buffer_size=None):
        size = AUTOTUNE if buffer_size is None else buffer_size
        return self.prefetch(size)._copied_to(device, _COPIED_AHEAD if size == AUTOTUNE else size)

    def _copied_to(self, device, ahead):
        """A dataset with the same elements, on the device where it is iterated over in Python."""
        made = self._unary("_OptionsDataset", raw.OptionsDataset, serialized_options=b"")
        made._options_value, made._target = self._options_value, (device, ahead)
        return made

    def apply(self, transformation_func):
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    def with_options(self, options, name=None):
        made = self._unary("_OptionsDataset", raw.OptionsDataset, serialized_options=b"")
        made._options_value = self.options().merge(options)
        return made

    def options(self):
        if self._options_value is not None:
            return self._options_value
        merged = Options()
        for dataset in self._input_datasets:
            merged = merged.merge(dataset.options())
        return merged

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {}

    def __repr__(self):
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    __str__ = __repr__

    def __debug_string__(self):
        lines = []

        def walk(dataset, depth):
            lines.append("  " * depth + "-> " * bool(depth) + type(dataset).__name__.strip("_"))
            for part in dataset._input_datasets:
                walk(part, depth + 1)

        walk(self, 0)
        return "\n".join(lines)


def _deterministic(value):
    return "default" if value is None else "true" if value else "false"


def _cpus():
    import os

    return min(10, os.cpu_count() or 1)


def _inner(traced, what):
    spec = traced.output_spec
    if not isinstance(spec, DatasetSpec):
        if isinstance(spec, TensorSpec):
            raise AttributeError(
                "'Tensor' object has no attribute '_name'"
            )  # TensorFlow fails while it writes the text
        raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {_type_text(spec)!r}.")
    return spec._element_spec


def _type_text(spec):
    return getattr(spec, "value_type", type(spec)).__name__


class DatasetSpec(TypeSpec):
    """tf.data.DatasetSpec: a dataset as an element or argument."""

    value_type = Dataset

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec, self._dataset_shape = element_spec, as_shape(dataset_shape)

    @property
    def element_spec(self):
        return self._element_spec

    def _serialize(self):
        return (self._element_spec, self._dataset_shape)

    @property
    def _component_specs(self):
        return TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        made = make("_VariantDataset", components, self._element_spec)
        if self._dataset_shape.rank != 0:
            made._dataset_shape = self._dataset_shape  # a batch of datasets, not one
        return made

    _flat_tensor_specs = property(lambda self: [TensorSpec(self._dataset_shape, dtypes.variant)])

    def _to_tensor_list(self, value):
        return [value._variant_tensor]

    def _from_tensor_list(self, tensors):
        return self._from_components(tensors[0])

    _to_batched_tensor_list = _to_tensor_list

    @staticmethod
    def from_value(value):
        return DatasetSpec(value.element_spec, getattr(value, "_dataset_shape", ()))

    def is_compatible_with(self, other):
        other = other._type_spec if isinstance(other, Dataset) else other
        return isinstance(other, DatasetSpec) and structure.compatible(self._element_spec, other._element_spec)

    def most_specific_common_supertype(self, others):
        spec = self._element_spec
        for other in others:
            spec = None if not isinstance(other, DatasetSpec) else structure.common(spec, other._element_spec)
            if spec is None:
                return None
        return DatasetSpec(spec, self._dataset_shape)

    def _batch(self, batch_size):
        return DatasetSpec(self._element_spec, TensorShape([batch_size]).concatenate(self._dataset_shape))

    def _unbatch(self):
        if self._dataset_shape.rank == 0:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def _to_legacy_output_types(self):
        return self

    _to_legacy_output_shapes = _to_legacy_output_classes = _to_legacy_output_types

    def __eq__(self, other):
        return (
            isinstance(other, DatasetSpec)
            and self._element_spec == other._element_spec
            and self._dataset_shape == other._dataset_shape
        )

    def __hash__(self):
        return hash(repr(self._element_spec))

    def __repr__(self):
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"
