"""tf.nn: activations, softmax, losses, dropout; convolutions, pools, norms and embeddings come from the modules beside this one."""

import numbers

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, errors
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import Tensor
from weft._src.ops import array_ops, creation_ops, math_ops, random_ops
from weft._src.ops._direct import define, scope

define(
    globals(),
    """
elu features
l2_loss t
local_response_normalization LRN input, depth_radius=5, bias=1, alpha=1, beta=0.5
relu features
relu6 features
selu features
""",
)
lrn = local_response_normalization  # noqa: F821


@dispatchable
def leaky_relu(features, alpha=0.2, name=None):
    """x where it is positive, else alpha * x."""
    with scope(name, "LeakyRelu") as name:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, dtypes.float32)
        if isinstance(alpha, Tensor):
            known = constant_value(alpha)
            if known is None:
                return raw.Maximum(x=alpha * features, y=features, name=name)
            alpha = float(known)
        return raw.LeakyRelu(features=features, alpha=float(alpha), name=name)


@dispatchable
def crelu(features, axis=-1, name=None):
    """The positive and the negative part, one behind the other."""
    with scope(name, "CRelu") as name:
        features = convert_to_tensor(features, name="features")
        return raw.Relu(features=array_ops.concat([features, -features], axis, name="concat"), name=name)


@dispatchable
def gelu(features, approximate=False, name=None):
    """x times the chance that a normal number is below x."""
    with scope(name, "Gelu"):
        x = convert_to_tensor(features, name="features")
        if not x.dtype.is_floating:
            raise ValueError(f"`features.dtype` must be a floating point tensor.Received:features.dtype={x.dtype}")
        if approximate:
            return (
                0.5
                * x
                * (
                    1.0
                    + raw.Tanh(
                        x=0.7978845608028654
                        * (x + convert_to_tensor(0.044715, x.dtype) * raw.Pow(x=x, y=convert_to_tensor(3, x.dtype)))
                    )
                )
            )
        return 0.5 * x * (1.0 + raw.Erf(x=x / convert_to_tensor(1.4142135623730951, x.dtype)))


@dispatchable
def silu(features, beta=1.0):
    """x * sigmoid(beta * x)."""
    features = convert_to_tensor(features, name="features")
    return features * raw.Sigmoid(x=convert_to_tensor(beta, features.dtype, name="beta") * features)


swish = silu


# ---- softmax ----------------------------------------------------------------------------------------------


def _along(op, logits, axis, name):
    """A row-wise op along any axis."""
    logits = convert_to_tensor(logits)
    axis = -1 if axis is None else axis
    rank = logits.shape.rank
    if rank is not None and not (-rank <= axis < rank) and not (rank == 0 and axis == -1):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions in the input. "
            f"Received: dim={axis}",
        )
    if axis == -1 or rank is not None and axis == rank - 1:
        return op(logits=logits, name=name)
    if rank is None:
        last = raw.Rank(input=logits) - 1
        place = axis if axis >= 0 else last + 1 + axis
        order = array_ops.range(last + 1)
        swap = array_ops.where(order == place, last, array_ops.where(order == last, place, order))
    else:
        swap = list(range(rank))
        swap[axis % rank], swap[-1] = rank - 1, axis % rank
    out = op(logits=raw.Transpose(x=logits, perm=swap))
    return raw.Transpose(x=out, perm=swap, name=name)


@dispatchable
def softmax(logits, axis=None, name=None):
    """exp(x) / sum(exp(x)) along an axis."""
    return _along(raw.Softmax, logits, axis, name)


@dispatchable
def log_softmax(logits, axis=None, name=None):
    """The logarithm of softmax."""
    return _along(raw.LogSoftmax, logits, axis, name)


# ---- losses -----------------------------------------------------------------------------------------------


@dispatchable
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The cross entropy between labels, given as probabilities, and softmax(logits)."""
    if labels is None or logits is None:
        raise ValueError("Both `labels` and `logits` must be provided.")
    with scope(name, "softmax_cross_entropy_with_logits") as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        wanted = logits.dtype
        small = wanted in (dtypes.float16, dtypes.bfloat16)
        logits = math_ops.cast(logits, dtypes.float32) if small else logits
        labels = math_ops.cast(labels, logits.dtype)
        rank = logits.shape.rank
        if axis != -1 and (rank is None or axis != rank - 1):
            if rank is None:
                count = array_ops.rank(logits)
                at = math_ops.floormod(axis, count)
                order = array_ops.concat([creation_ops.range(at), creation_ops.range(at + 1, count), [at]], 0)
            else:
                order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
            logits, labels = (raw.Transpose(x=t, perm=order) for t in (logits, labels))
        sizes = array_ops.shape(logits)
        if rank != 2:
            wide = sizes[-1:]
            logits, labels = (array_ops.reshape(t, array_ops.concat([[-1], wide], 0)) for t in (logits, labels))
        loss = raw.SoftmaxCrossEntropyWithLogits(features=logits, labels=labels, name=name).loss
        if rank != 2:
            loss = array_ops.reshape(loss, sizes[:-1])
        return math_ops.cast(loss, wanted) if small else loss


@dispatchable
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """The cross entropy between labels, given as classes, and softmax(logits)."""
    if labels is None or logits is None:
        raise ValueError("Both `labels` and `logits` must be provided.")
    with scope(name, "SparseSoftmaxCrossEntropyWithLogits"):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        wanted = logits.dtype
        small = wanted in (dtypes.float16, dtypes.bfloat16)
        precise = math_ops.cast(logits, dtypes.float32) if small else logits
        have, want = labels.shape, logits.shape[:-1] if logits.shape.rank is not None else logits.shape
        if logits.shape.rank == 0:
            raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
        if have.rank is not None and logits.shape.rank is not None:
            if have.rank != logits.shape.rank - 1:
                raise ValueError(
                    f"`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape={have} of rank {have.rank} and logits.shape={logits.shape} "
                    f"of rank {logits.shape.rank}"
                )
            if not have.is_compatible_with(want):
                raise ValueError(
                    f"`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape={have} and logits.shape={logits.shape}"
                )
        sizes = array_ops.shape(labels) if _weft.in_graph() or logits.shape.rank != 2 else None
        if logits.shape.rank == 2:
            loss = raw.SparseSoftmaxCrossEntropyWithLogits(features=precise, labels=labels).loss
        else:
            flat = array_ops.reshape(precise, array_ops.concat([[-1], array_ops.shape(precise)[-1:]], 0))
            loss = raw.SparseSoftmaxCrossEntropyWithLogits(features=flat, labels=array_ops.reshape(labels, [-1])).loss
            loss = array_ops.reshape(loss, sizes)
            loss.set_shape(have)
        return math_ops.cast(loss, wanted) if small else loss


def _same_shape(name, labels, logits):
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(
            f"`logits` and `{name}` must have the same shape, received ({logits.shape} vs {labels.shape})."
        )


@dispatchable
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The cross entropy between labels of their own and sigmoid(logits)."""
    if labels is None or logits is None:
        raise ValueError("Both `labels` and `logits` must be provided.")
    with scope(name, "logistic_loss") as name:
        logits, labels = convert_to_tensor(logits, name="logits"), convert_to_tensor(labels, name="labels")
        _same_shape("labels", labels, logits)
        zeros = array_ops.zeros_like(logits)
        above = logits >= zeros
        positive = raw.Select(condition=above, t=logits, e=zeros)
        below = raw.Select(condition=above, t=-logits, e=logits)
        return raw.AddV2(x=positive - logits * labels, y=raw.Log1p(x=raw.Exp(x=below)), name=name)


@dispatchable
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """As sigmoid_cross_entropy_with_logits, with a weight for what should be positive."""
    with scope(name, "logistic_loss") as name:
        logits, labels = convert_to_tensor(logits, name="logits"), convert_to_tensor(labels, name="labels")
        _same_shape("labels", labels, logits)
        weight = 1 + (pos_weight - 1) * labels
        return raw.AddV2(
            x=(1 - labels) * logits,
            y=weight * (raw.Log1p(x=raw.Exp(x=-math_ops.abs(logits))) + raw.Relu(features=-logits)),
            name=name,
        )


@dispatchable
def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """The loss of Poisson distributed targets, given the logarithm of their mean."""
    import math

    with scope(name, "log_poisson_loss"):
        log_input, targets = convert_to_tensor(log_input, name="log_input"), convert_to_tensor(targets, name="targets")
        if not targets.shape.is_compatible_with(log_input.shape):
            raise ValueError(
                f"`log_input` and `targets` must have the same shape, received ({log_input.shape} vs {targets.shape})."
            )
        loss = raw.Exp(x=log_input) - log_input * targets
        if compute_full_loss:
            # Stirling's approximation, which holds from 1 on.
            stirling = (
                targets * raw.Log(x=targets)
                - targets
                + convert_to_tensor(0.5, targets.dtype)
                * raw.Log(x=convert_to_tensor(2 * math.pi, targets.dtype) * targets)
            )
            zeros, ones = raw.ZerosLike(x=targets), raw.OnesLike(x=targets)
            small = math_ops.logical_and(targets >= zeros, targets <= ones)
            loss = loss + raw.SelectV2(condition=small, t=zeros, e=stirling)
        return loss


@dispatchable
def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of losses over the size of the whole batch."""
    loss = convert_to_tensor(per_example_loss)
    kind = loss.dtype
    if sample_weight is not None:
        loss = loss * math_ops.cast(convert_to_tensor(sample_weight), kind)
    loss = math_ops.cast(loss, kind)
    if global_batch_size is None:
        global_batch_size = array_ops.shape(loss)[0] * _replicas()
    if isinstance(global_batch_size, Tensor):
        if global_batch_size.shape.rank != 0:
            raise ValueError(f"global_batch_size must be a scalar, but got shape: {global_batch_size.shape}")
    elif not isinstance(global_batch_size, numbers.Integral):
        raise TypeError("global_batch_size must be an int, but got: %s" % type(global_batch_size))
    elif global_batch_size < 0:
        raise ValueError("global_batch_size must be non-negative.")
    return math_ops.divide_no_nan(math_ops.reduce_sum(loss), math_ops.cast(global_batch_size, kind))


@dispatchable
def scale_regularization_loss(regularization_loss):
    """The loss over the number of replicas."""
    loss = math_ops.reduce_sum(regularization_loss)
    return loss / math_ops.cast(_replicas(), loss.dtype)


def _replicas():
    return 1


# ---- dropout and bias -------------------------------------------------------------------------------------


@dispatchable
def bias_add(value, bias, data_format=None, name=None):
    """A number more for each channel."""
    with scope(name, "BiasAdd") as name:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise ValueError(
                    "`data_format` must be of the form `N...C` or `NC...`. Received: data_format=%s" % data_format
                )
        if _weft.in_graph():
            value = convert_to_tensor(value, name="input")
            bias = convert_to_tensor(bias, value.dtype, name="bias")
        return raw.BiasAdd(value=value, bias=bias, data_format=data_format or "NHWC", name=name)


def _noise_shape(x, noise_shape):
    if noise_shape is None:
        return array_ops.shape(x)
    if isinstance(noise_shape, Tensor):
        return noise_shape
    sizes = list(noise_shape.as_list() if hasattr(noise_shape, "as_list") else noise_shape)
    if x.shape.rank == len(sizes):
        sizes = [x.shape[i] if s is None and x.shape[i] is not None else s for i, s in enumerate(sizes)]
    if None in sizes:
        now = array_ops.shape(x)
        sizes = array_ops.stack([now[i] if s is None else s for i, s in enumerate(sizes)])
    return sizes


@dispatchable
def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """Dropout with numbers from uniform_sampler(shape=, dtype=)."""
    return _dropout(x, rate, noise_shape, uniform_sampler, lambda: None, name, "dropout")


def _dropout(x, rate, noise_shape, sampler, skip, name, default):
    with scope(name, default) as name:
        plain = isinstance(rate, numbers.Real)
        if plain and not 0 <= rate < 1:
            raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={x.dtype}"
            )
        if plain and rate == 0:
            skip()
            return x
        if plain:
            out = raw.Mul(x=x, y=convert_to_tensor(1 / (1 - rate), x.dtype))
        else:
            if isinstance(rate, (str, bytes)):
                raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
            rate = convert_to_tensor(rate, name="rate")
            if rate.shape.rank not in (0, None):
                raise ValueError(f"rate must be a scalar tensor, not of shape {rate.shape}")
            if rate.dtype is not x.dtype:
                if not rate.dtype.is_compatible_with(x.dtype):
                    raise ValueError(
                        f"`x.dtype` and `rate.dtype` must be the same. Received: x.dtype={x.dtype} and rate.dtype={rate.dtype}"
                    )
            out = x / (convert_to_tensor(1, x.dtype) - rate)
        draw = sampler(shape=_noise_shape(x, noise_shape), dtype=x.dtype)
        kept = draw >= rate
        out = raw.SelectV2(condition=kept, t=out, e=convert_to_tensor(0, x.dtype))
        out.set_shape(x.shape)
        return out


@dispatchable
def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Some elements zero, by chance, and the others scaled up for it."""
    from weft._src.framework.random_seed import get_seed

    return _dropout(
        x,
        rate,
        noise_shape,
        lambda shape, dtype: random_ops.uniform(shape, seed=seed, dtype=dtype),
        lambda: get_seed(seed),
        name,
        "dropout",
    )


@dispatchable
def stateless_dropout(x, rate, seed, rng_alg=None, noise_shape=None, name=None):
    """Dropout by a seed alone."""
    from weft._src.ops.stateless_random_ops import stateless_uniform

    alg = "auto_select" if rng_alg is None else rng_alg
    return _dropout(
        x,
        rate,
        noise_shape,
        lambda shape, dtype: stateless_uniform(shape, seed=seed, dtype=dtype, alg=alg),
        lambda: None,
        name,
        "stateless_dropout",
    )


@dispatchable
def isotonic_regression(inputs, decreasing=True, axis=-1):
    """The nearest values that do not grow (or do not shrink) along an axis; and the blocks of equal ones."""
    x = convert_to_tensor(inputs)
    kinds = {
        dtypes.int8: dtypes.float32,
        dtypes.int16: dtypes.float32,
        dtypes.bfloat16: dtypes.float32,
        dtypes.float16: dtypes.float32,
        dtypes.float32: dtypes.float32,
    }
    kind = kinds.get(x.dtype, dtypes.float64)
    rank = x.shape.rank
    swap = None
    if axis % rank != rank - 1:
        swap = list(range(rank))
        swap[axis % rank], swap[-1] = rank - 1, axis % rank
        x = raw.Transpose(x=x, perm=swap)
    sizes = array_ops.shape(x)
    flat = array_ops.reshape(x, array_ops.concat([[-1], sizes[-1:]], 0))
    made = raw.IsotonicRegression(input=flat if decreasing else -flat, output_dtype=kind)
    output, segments = made.output if decreasing else -made.output, made.segments
    output, segments = array_ops.reshape(output, sizes), array_ops.reshape(segments, sizes)
    if swap is not None:
        output, segments = raw.Transpose(x=output, perm=swap), raw.Transpose(x=segments, perm=swap)
    return output, segments
