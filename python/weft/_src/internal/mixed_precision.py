"""tf.__internal__.mixed_precision and what tf.__internal__.train knows of it: whether a policy is in use, and who wraps which optimizer."""

_wrappers = {}  # class of optimizers -> (function that wraps one, class of the wrapped ones)
_policy = False


def register_loss_scale_wrapper(optimizer_cls, wrapper_fn, wrapper_cls=None):
    _wrappers[optimizer_cls] = (wrapper_fn, wrapper_cls or wrapper_fn)


def is_mixed_precision_graph_rewrite_enabled():
    """Graphs are never rewritten to other types."""
    return False


def set_using_mixed_precision_policy(is_using):
    global _policy
    _policy = is_using


def is_using_mixed_precision_policy():
    return _policy
