"""tf.nn and tf.random: candidates drawn from many classes, and losses over them."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.random_seed import get_seed
from weft._src.ops import array_ops, math_ops, nn_ops
from weft._src.ops._direct import scope
from weft._src.ops.embedding_ops import embedding_lookup


def _seeds(seed):
    one, two = get_seed(seed)
    return {} if one is None else {"seed": one, "seed2": two}


@dispatchable
def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Classes, each as likely as another."""
    return raw.UniformCandidateSampler(
        true_classes=true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **_seeds(seed),
        name=name,
    )


@dispatchable
def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Classes, the first ones more likely."""
    return raw.LogUniformCandidateSampler(
        true_classes=true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **_seeds(seed),
        name=name,
    )


@dispatchable
def learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Classes as often as they were seen."""
    return raw.LearnedUnigramCandidateSampler(
        true_classes=true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **_seeds(seed),
        name=name,
    )


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All classes."""
    return raw.AllCandidateSampler(
        true_classes=true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, **_seeds(seed), name=name
    )


@dispatchable
def fixed_unigram_candidate_sampler(
    true_classes,
    num_true,
    num_sampled,
    unique,
    range_max,
    vocab_file="",
    distortion=1.0,
    num_reserved_ids=0,
    num_shards=1,
    shard=0,
    unigrams=(),
    seed=None,
    name=None,
):
    """Classes with given probabilities."""
    return raw.FixedUnigramCandidateSampler(
        true_classes=true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=list(unigrams),
        **_seeds(seed),
        name=name,
    )


@dispatchable
def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where a drawn class is a true one: rows, places, and the weight that takes it out."""
    return raw.ComputeAccidentalHits(
        true_classes=true_classes, sampled_candidates=sampled_candidates, num_true=num_true, **_seeds(seed), name=name
    )


def _sampled_logits(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true,
    sampled_values,
    subtract_log_q,
    remove_accidental_hits,
    seed,
):
    """Logits and labels of the true and the drawn classes."""
    weights = list(weights) if isinstance(weights, (list, tuple)) else [weights]
    labels = math_ops.cast(labels, dtypes.int64)
    flat = array_ops.reshape(labels, [-1])
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed=seed)
    sampled, true_expected, sampled_expected = (raw.StopGradient(input=s) for s in sampled_values)
    sampled = math_ops.cast(sampled, dtypes.int64)
    every = array_ops.concat([flat, sampled], 0)
    rows = embedding_lookup(weights, every)
    rows = rows if rows.dtype is inputs.dtype else math_ops.cast(rows, inputs.dtype)
    offsets = math_ops.cast(embedding_lookup(biases, every), inputs.dtype)
    count = array_ops.shape(flat)[0]
    true_w, sampled_w = rows[:count], rows[count:]
    true_b, sampled_b = offsets[:count], offsets[count:]
    sampled_logits = math_ops.matmul(inputs, sampled_w, transpose_b=True) + sampled_b
    width = array_ops.shape(true_w)[1:2]
    products = array_ops.expand_dims(inputs, 1) * array_ops.reshape(
        true_w, array_ops.concat([[-1, num_true], width], 0)
    )
    true_logits = math_ops.reduce_sum(products, 2) + array_ops.reshape(true_b, [-1, num_true])
    if remove_accidental_hits:
        hits = compute_accidental_hits(labels, sampled, num_true)
        where = math_ops.cast(array_ops.stack([math_ops.cast(hits.indices, dtypes.int64), hits.ids], 1), dtypes.int64)
        shape = math_ops.cast(
            array_ops.concat([array_ops.shape(labels)[:1], array_ops.expand_dims(num_sampled, 0)], 0), dtypes.int64
        )
        sampled_logits = sampled_logits + raw.ScatterNd(
            indices=where, updates=math_ops.cast(hits.weights, sampled_logits.dtype), shape=shape
        )
    if subtract_log_q:
        true_logits = true_logits - math_ops.log(math_ops.cast(true_expected, true_logits.dtype))
        sampled_logits = sampled_logits - math_ops.log(math_ops.cast(sampled_expected, sampled_logits.dtype))
    logits = array_ops.concat([true_logits, sampled_logits], 1)
    labels = array_ops.concat([array_ops.ones_like(true_logits) / num_true, array_ops.zeros_like(sampled_logits)], 1)
    return logits, labels


@dispatchable
def nce_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=False,
    name="nce_loss",
):
    """The loss of noise-contrastive estimation."""
    with scope(name, "nce_loss"):
        inputs = convert_to_tensor(inputs)
        logits, targets = _sampled_logits(
            weights,
            biases,
            labels,
            inputs,
            num_sampled,
            num_classes,
            num_true,
            sampled_values,
            True,
            remove_accidental_hits,
            None,
        )
        losses = nn_ops.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)
        return math_ops.reduce_sum(losses, 1)


@dispatchable
def sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=True,
    seed=None,
    name="sampled_softmax_loss",
):
    """The softmax loss over the true and some drawn classes."""
    with scope(name, "sampled_softmax_loss"):
        inputs = convert_to_tensor(inputs)
        logits, targets = _sampled_logits(
            weights,
            biases,
            labels,
            inputs,
            num_sampled,
            num_classes,
            num_true,
            sampled_values,
            True,
            remove_accidental_hits,
            seed,
        )
        return nn_ops.softmax_cross_entropy_with_logits(labels=raw.StopGradient(input=targets), logits=logits)
