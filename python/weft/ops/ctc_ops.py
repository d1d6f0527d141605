"""tf.nn: connectionist temporal classification."""

from weft._raw import raw
from weft.framework import dtypes
from weft.framework.convert import convert_to_tensor
from weft.framework.dispatch import dispatchable
from weft.ops import array_ops, math_ops
from weft.ops._direct import scope


def _sparse(indices, values, shape):
    from weft import SparseTensor

    return SparseTensor(indices, values, shape)


@dispatchable
def ctc_loss(
    labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None, name=None
):
    """The loss of sequences of labels whose places in time are not known; labels sparse or dense."""
    with scope(name, "ctc_loss"):
        logits = convert_to_tensor(logits, name="logits")
        if not logits_time_major:
            logits = array_ops.transpose(logits, [1, 0, 2])
        classes = logits.shape[2]
        if classes is None:
            raise ValueError("the number of classes of `logits` must be known")
        if hasattr(labels, "indices"):
            if blank_index is None:
                raise ValueError("Argument `blank_index` must be provided when labels is a SparseTensor.")
            indices, values = labels.indices, labels.values
        else:
            blank_index = 0 if blank_index is None else blank_index
            labels = convert_to_tensor(labels, name="labels")
            length = convert_to_tensor(label_length, name="label_length")
            width = array_ops.shape(labels)[1]
            inside = array_ops.sequence_mask(length, width)
            indices = array_ops.where(inside)
            values = array_ops.gather_nd(labels, indices)
        values = math_ops.cast(values, dtypes.int32)
        blank = blank_index % classes if blank_index < 0 else blank_index
        if blank != classes - 1:
            # The op has the blank behind all others.
            logits = array_ops.concat(
                [logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]], 2
            )
            values = array_ops.where(values > blank, values - 1, values)
        return raw.CTCLoss(
            inputs=logits,
            labels_indices=indices,
            labels_values=values,
            sequence_length=math_ops.cast(logit_length, dtypes.int32),
        ).loss


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
    return [_sparse(made.decoded_indices, made.decoded_values, made.decoded_shape)], made.log_probability


@dispatchable
def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """The most likely sequences: ([sparse labels for each path], logarithms of their probabilities)."""
    made = raw.CTCBeamSearchDecoder(
        inputs=inputs, sequence_length=sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=False
    )
    return [
        _sparse(*parts) for parts in zip(made.decoded_indices, made.decoded_values, made.decoded_shape)
    ], made.log_probability


@dispatchable
def ctc_unique_labels(labels, name=None):
    """The different labels of each row, filled up with zeros, and the place of each label among them."""
    with scope(name, "ctc_unique_labels"):
        labels = convert_to_tensor(labels, name="labels")
        rows = [array_ops.unique(row) for row in array_ops.unstack(labels)]
        width = labels.shape[1]
        values = [raw.Pad(input=r.y, paddings=[[0, width - array_ops.size(r.y)]]) for r in rows]
        return [math_ops.cast(array_ops.stack(values), dtypes.int64), array_ops.stack([r.idx for r in rows])]


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
