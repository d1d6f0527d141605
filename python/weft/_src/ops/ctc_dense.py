"""The CTC loss of dense labels by the forward-backward algorithm on all sequences at once (Sim et al., "Improving the efficiency of
forward-backward algorithm using batched computation in TensorFlow", 2017). The blank is class 0 here.

A sequence of L labels has 2 (L + 1) states: the start and the labels in their order, then a blank behind each of them."""

from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.ops import array_ops, creation_ops, math_ops, nn_ops, reduction_ops


def size(tensor, axis):
    """The size of an axis: an int where it is known."""
    return tensor.shape[axis] or array_ops.shape(tensor)[axis]


def _log_zero():
    return math_ops.log(0.0)


def _transitions(labels):
    """Which state follows which, as [sequence, to, from] of ones and zeros."""
    batch, count = size(labels, 0), size(labels, 1) + 1
    at_label = math_ops.range(count)
    at_blank = at_label + count
    from_start = [[1, 0]]
    into_label = array_ops.stack([at_label[1:], at_blank[:-1]], 1)
    into_blank = array_ops.stack([at_blank, at_label], 1)
    places = array_ops.concat([from_start, into_label, into_blank], 0)
    states = 2 * count
    common = array_ops.scatter_nd(places, creation_ops.ones([size(places, 0)]), [states, states])
    common += creation_ops.eye(states)
    # From a label right to the next one: only where they differ.
    differ = 1.0 - math_ops.cast(math_ops.equal(labels[:, :-1], labels[:, 1:]), dtypes.float32)
    steps = array_ops.stack([at_label[2:], at_label[1:-1]], 1)
    steps = array_ops.tile(array_ops.expand_dims(steps, 0), [batch, 1, 1])
    rows = creation_ops.ones_like(steps[:, :, :1]) * array_ops.reshape(math_ops.range(batch), [-1, 1, 1])
    own = array_ops.scatter_nd(array_ops.concat([rows, steps], 2), differ, [batch, states, states])
    return array_ops.expand_dims(common, 0) + own


def _ends(lengths, longest):
    """The logarithms of the probabilities of the states before the first frame and behind the last."""
    count, batch = longest + 1, size(lengths, 0)
    nearly_zero = math_ops.cast(math_ops.log(convert_to_tensor(1e-307, dtypes.float64)), dtypes.float32)
    first = creation_ops.one_hot(
        creation_ops.zeros([batch], dtypes.int32), 2 * count, on_value=0.0, off_value=nearly_zero, axis=1
    )
    last = creation_ops.one_hot(lengths, count, axis=1)
    return first, (1.0 - array_ops.concat([last, last], 1)) * nearly_zero


def _observed(labels, classes, log_probabilities):
    """The logarithm of each state's probability in each frame."""
    blanks = array_ops.tile(log_probabilities[:, :, :1], [1, 1, size(labels, 1) + 1])
    chosen = array_ops.expand_dims(creation_ops.one_hot(labels, classes), 0)
    of_labels = reduction_ops.reduce_sum(array_ops.expand_dims(log_probabilities, 2) * chosen, 3)
    states = array_ops.concat([of_labels, blanks], 2)
    return array_ops.pad(states, [[0, 0], [0, 0], [1, 0]], constant_values=_log_zero())


def _forward_backward(transitions, first, last, observed, lengths):
    """The logarithms of each state's probability in each frame, and of each sequence's likelihood."""
    from weft._src.function.functional import scan

    def step(state, matrix):
        return reduction_ops.reduce_logsumexp(array_ops.expand_dims(state, 1) + matrix, -1)

    def normalized(state):
        total = reduction_ops.reduce_logsumexp(state, -1, keepdims=True)
        return state - total, total

    def forward(state, seen):
        return normalized(step(state, transitions) + seen)[0]

    back = array_ops.transpose(transitions, [0, 2, 1])

    def backward(carried, frame):
        (state, total), (seen, inside) = carried, frame
        state, scale = normalized(step(state + seen, back))
        column = array_ops.expand_dims(inside, 1)
        return state * column + last * (1.0 - column), total + array_ops.squeeze(scale, [-1]) * inside

    inside = creation_ops.sequence_mask(lengths, size(observed, 0), dtypes.float32)
    inside = array_ops.transpose(inside, [1, 0])
    ahead = scan(forward, observed, first)
    totals = creation_ops.zeros([size(observed, 1)])
    behind, totals = scan(backward, (observed, inside), (last, totals), reverse=True)
    both = ahead + array_ops.concat([behind[1:], array_ops.expand_dims(last, 0)], 0)
    both = _normalized(both) + math_ops.log(array_ops.expand_dims(inside, 2))
    return both, behind[0, :, 0] + totals[0]


def _normalized(states):
    return states - reduction_ops.reduce_logsumexp(states, 2, keepdims=True)


def _of_classes(labels, classes, states, unique):
    """The states' logarithms summed for each class."""
    count = size(labels, 1) + 1
    of_labels, blanks = states[:, :, 1:count], states[:, :, count:]
    blank = reduction_ops.reduce_logsumexp(blanks, 2, keepdims=True)
    if unique is None:
        chosen = creation_ops.one_hot(labels - 1, classes - 1, on_value=0.0, off_value=_log_zero())
        summed = array_ops.expand_dims(of_labels, 3) + array_ops.expand_dims(chosen, 0)
        return array_ops.concat([blank, reduction_ops.reduce_logsumexp(summed, 2)], -1)
    values, places = unique
    frames, batch = size(states, 0), size(states, 1)
    chosen = creation_ops.one_hot(places, count - 1, on_value=0.0, off_value=_log_zero(), axis=1)
    summed = reduction_ops.reduce_logsumexp(array_ops.expand_dims(of_labels, 2) + chosen, -1)
    rows = array_ops.reshape(array_ops.transpose(summed, [1, 2, 0]), [batch * (count - 1), frames])
    at = values + array_ops.expand_dims(math_ops.range(batch, dtype=values.dtype) * classes, -1)
    at = array_ops.reshape(at, [-1, 1])
    shape = [batch * classes, frames]
    written = array_ops.scatter_nd(at, rows, shape)
    taken = array_ops.scatter_nd(at, creation_ops.ones_like(rows, dtype=dtypes.bool), shape)
    written = array_ops.where(taken, written, creation_ops.fill(array_ops.shape(written), _log_zero()))
    written = array_ops.transpose(array_ops.reshape(written, [batch, classes, frames]), [2, 0, 1])
    return array_ops.concat([blank, written[:, :, 1:]], -1)


def loss_and_gradient(logits, labels, label_length, logit_length, unique=None):
    """The loss of each sequence and its gradient to the logits [frame, sequence, class]."""
    classes = size(logits, 2)
    longest = size(labels, 1)
    log_probabilities = nn_ops.log_softmax(logits)
    observed = _observed(labels, classes, log_probabilities)
    transitions = math_ops.log(_transitions(labels))
    first, last = _ends(label_length, longest)
    states, likelihood = _forward_backward(transitions, first, last, observed, logit_length)
    wanted = _of_classes(labels, classes, states, unique)
    inside = creation_ops.sequence_mask(logit_length, size(logits, 0), dtypes.float32)
    inside = array_ops.expand_dims(array_ops.transpose(inside, [1, 0]), 2)
    return -likelihood, (math_ops.exp(log_probabilities) - math_ops.exp(wanted)) * inside


def ctc_loss(labels, logits, label_length, logit_length, unique, blank_index):
    """The loss of dense labels; logits are [frame, sequence, class]."""
    from weft._src.gradients.custom import custom_gradient

    if blank_index != 0:
        # The blank comes to the front.
        blank_index = blank_index + size(logits, 2) if blank_index < 0 else blank_index
        parts = logits[:, :, blank_index : blank_index + 1], logits[:, :, :blank_index], logits[:, :, blank_index + 1 :]
        logits = array_ops.concat(list(parts), 2)
        labels = array_ops.where(labels < blank_index, labels + 1, labels)
        if unique:
            values, places = unique
            values = array_ops.where(values < blank_index, values + 1, values)
            used = creation_ops.sequence_mask(reduction_ops.reduce_max(places, 1) + 1, size(values, 1))
            unique = array_ops.where(used, values, creation_ops.zeros_like(values)), places

    @custom_gradient
    def computed(logits, *others):
        loss, slope = loss_and_gradient(logits, *others[:3], unique=others[3:] or None)
        return loss, lambda g: [array_ops.reshape(g, [1, -1, 1]) * slope] + [None] * len(others)

    return computed(logits, labels, label_length, logit_length, *(unique or ()))
