"""tf.case. tensorflow-probability."""


def _case_helper(cond_fn, pred_fn_pairs, default, exclusive, name, allow_python_preds=False, **cond_kwargs):
    """The first function whose condition holds: a chain of cond_fn. `exclusive` is for graphs that check it; here the first one counts."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if not pairs:
        raise TypeError("'pred_fn_pairs' must be a non-empty list")
    from weft._src.framework.graph import name_scope_v1

    rest = default
    if rest is None:
        rest, pairs = pairs[-1][1], pairs[:-1]
    for pred, function in reversed(pairs):
        rest = _chained(cond_fn, pred, function, rest, cond_kwargs)
    with name_scope_v1(name, "case"):
        return rest()


def _chained(cond_fn, pred, function, rest, options):
    return lambda: cond_fn(pred, function, rest, **options)
