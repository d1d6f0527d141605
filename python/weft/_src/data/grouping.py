"""Groups of elements, and samples of a wanted distribution."""

from weft._src.raw import raw
from weft._src.data.traced import TracedFunction
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.type_spec import TensorSpec


def group_by_window(dataset, key_func, reduce_func, window_size, window_size_func):
    from weft._src.data.dataset import DatasetSpec

    if (window_size is None) == (window_size_func is None):
        raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
    if window_size is not None:

        def window_size_func(unused):
            return convert_to_tensor(window_size, dtypes.int64)

    key = TracedFunction(
        lambda *e: raw.Cast(x=key_func(*e), DstT=dtypes.int64), "group_by_window", dataset.element_spec
    )
    if not (isinstance(key.output_spec, TensorSpec) and key.output_spec.shape.rank in (0, None)):
        raise ValueError("Invalid `key_func`. `key_func` must return a single `tf.int64` scalar tensor.")
    int64 = TensorSpec([], dtypes.int64)
    size = TracedFunction(lambda k: raw.Cast(x=window_size_func(k), DstT=dtypes.int64), "group_by_window", int64)
    reduced = TracedFunction(reduce_func, "group_by_window", (int64, DatasetSpec(dataset.element_spec)))
    if not isinstance(reduced.output_spec, DatasetSpec):
        raise TypeError(
            f"Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its return type is {reduced.output_spec}."
        )
    return dataset._unary(
        "_GroupByWindowDataset",
        raw.GroupByWindowDataset,
        reduced.output_spec._element_spec,
        [key, size, reduced],
        key_func=key,
        key_func_other_arguments=key.captures,
        reduce_func=reduced,
        reduce_func_other_arguments=reduced.captures,
        window_size_func=size,
        window_size_func_other_arguments=size.captures,
    )


def rejection_resample(dataset, class_func, target_dist, initial_dist, seed):
    """Keeps elements of each class with the probability that gives the target distribution."""
    from weft._src.data.dataset import Dataset
    from weft._src.ops import random_ops

    target = convert_to_tensor(target_dist, dtypes.float32)
    classed = dataset.map(lambda *e: (class_func(*e), e[0] if len(e) == 1 else e))
    tiny = 1e-20
    if initial_dist is not None:
        initial = convert_to_tensor(initial_dist, dtypes.float32)
        with_odds = classed.map(lambda c, e: (c, e, _acceptance(initial, target, tiny)))
    else:

        def count(state, element):
            counts = state + raw.OneHot(indices=element[0], depth=raw.Size(input=target), on_value=1.0, off_value=0.0)
            return counts, (
                element[0],
                element[1],
                _acceptance(counts / raw.Sum(input=counts, reduction_indices=[0]), target, tiny),
            )

        with_odds = classed.scan(raw.ZerosLike(x=target) + 1.0, lambda state, element: count(state, element))
    kept = with_odds.filter(
        lambda c, e, odds: random_ops.uniform([], seed=seed) < raw.GatherV2(params=odds, indices=c, axis=0)
    )
    made = kept.map(lambda c, e, odds: (c, e))
    assert isinstance(made, Dataset)
    return made


def _acceptance(initial, target, tiny):
    ratio = target / (initial + tiny)
    return ratio / raw.Max(input=ratio, reduction_indices=[0])
