"""tf.nn: connectionist temporal classification."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.ops import array_ops, ctc_dense, math_ops
from weft._src.ops._direct import scope
from weft._src.ops.sparse_tensor import SparseTensor

_HALF = (dtypes.float16, dtypes.bfloat16)


@dispatchable
def ctc_loss(
    labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None, name=None
):
    """The loss of sequences of labels whose places in time are not known; labels sparse or dense."""
    if isinstance(labels, SparseTensor):
        return _sparse_loss(
            labels, convert_to_tensor(logits, name="logits"), logit_length, logits_time_major, blank_index
        )
    with scope(name, "ctc_loss_dense"):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        label_length = convert_to_tensor(label_length, name="label_length")
        logit_length = convert_to_tensor(logit_length, name="logit_length")
        dtype = logits.dtype
        if dtype in _HALF:
            logits = math_ops.cast(logits, dtypes.float32)
        if not logits_time_major:
            logits = array_ops.transpose(logits, [1, 0, 2])
        loss = ctc_dense.ctc_loss(labels, logits, label_length, logit_length, unique, blank_index or 0)
        return math_ops.cast(loss, dtype) if dtype in _HALF else loss


def _sparse_loss(labels, logits, logit_length, time_major, blank_index):
    if blank_index is None:
        raise ValueError("Argument `blank_index` must be provided when `labels` is a `SparseTensor`.")
    if blank_index < 0:
        blank_index += ctc_dense.size(logits, 2)
    # The op has the blank behind all others.
    parts = logits[:, :, :blank_index], logits[:, :, blank_index + 1 :], logits[:, :, blank_index : blank_index + 1]
    values = array_ops.where(labels.values < blank_index, labels.values, labels.values - 1)
    labels = SparseTensor(labels.indices, values, labels.dense_shape)
    return ctc_loss_of_op(labels, array_ops.concat(list(parts), 2), logit_length, time_major=time_major)


def ctc_loss_of_op(labels, inputs, sequence_length, time_major=True, **options):
    """The op's loss of sparse labels; the blank is the last class."""
    if not isinstance(labels, SparseTensor):
        raise TypeError(
            f"Expected argument `labels` to be a SparseTensor. Received labels={labels} of type: {type(labels).__name__}"
        )
    inputs = convert_to_tensor(inputs, name="logits")
    if not time_major:
        inputs = array_ops.transpose(inputs, [1, 0, 2])
    dtype = inputs.dtype
    if dtype in _HALF:
        inputs = math_ops.cast(inputs, dtypes.float32)
    loss = raw.CTCLoss(
        inputs=inputs,
        labels_indices=labels.indices,
        labels_values=labels.values,
        sequence_length=sequence_length,
        **options,
    ).loss
    return math_ops.cast(loss, dtype) if dtype in _HALF else loss


@dispatchable
def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """The most likely class at each time: ([sparse labels], -sum of logits)."""
    inputs = convert_to_tensor(inputs)
    made = raw.CTCGreedyDecoder(
        inputs=inputs,
        sequence_length=sequence_length,
        merge_repeated=merge_repeated,
        blank_index=-1 if blank_index is None else blank_index,
    )
    return [SparseTensor(made.decoded_indices, made.decoded_values, made.decoded_shape)], made.log_probability


@dispatchable
def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """The most likely sequences: ([sparse labels for each path], logarithms of their probabilities)."""
    return beam_search(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def beam_search(inputs, sequence_length, beam_width, top_paths, merge_repeated):
    made = raw.CTCBeamSearchDecoder(
        inputs=inputs,
        sequence_length=sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    return [
        SparseTensor(*parts) for parts in zip(made.decoded_indices, made.decoded_values, made.decoded_shape)
    ], made.log_probability


@dispatchable
def ctc_unique_labels(labels, name=None):
    """The different labels of each row, filled up with zeros, and the place of each label among them."""
    from weft._src.function.functional import map_fn

    with scope(name, "ctc_unique_labels"):
        labels = convert_to_tensor(labels, name="labels")

        def row(x):
            made = array_ops.unique(x)
            missing = ctc_dense.size(made.idx, 0) - ctc_dense.size(made.y, 0)
            return [math_ops.cast(array_ops.pad(made.y, [[0, missing]]), dtypes.int64), made.idx]

        return map_fn(row, labels, fn_output_signature=[dtypes.int64, dtypes.int32])


@dispatchable
def collapse_repeated(labels, seq_length, name=None):
    """Runs of one label as a single one: (labels, their new lengths)."""
    with scope(name, "collapse_repeated_labels"):
        labels, seq_length = convert_to_tensor(labels, name="labels"), convert_to_tensor(seq_length, name="seq_length")
        first = array_ops.ones_like(labels[:, :1], dtypes.bool)
        kept = array_ops.concat([first, math_ops.not_equal(labels[:, 1:], labels[:, :-1])], 1)
        width = array_ops.shape(labels)[1]
        kept = math_ops.logical_and(kept, array_ops.sequence_mask(seq_length, width))
        lengths = math_ops.reduce_sum(math_ops.cast(kept, dtypes.int32), 1)
        widest = math_ops.reduce_max(lengths)
        target = array_ops.sequence_mask(lengths, widest)
        flat = array_ops.boolean_mask(labels, kept)
        out = raw.ScatterNd(
            indices=array_ops.where(target), updates=flat, shape=math_ops.cast(array_ops.shape(target), dtypes.int64)
        )
        return out, math_ops.cast(lengths, seq_length.dtype)
