"""Optimizers of version 1. tf-keras."""


def get_filtered_grad_fn(grad_fn):
    """Of what grad_fn gives, the pairs that have a gradient."""

    def filtered(*args, **kwargs):
        return [(g, v) for g, v in grad_fn(*args, **kwargs) if g is not None]

    return filtered
