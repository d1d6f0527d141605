"""Checks of ragged tensors. tf-keras."""


def assert_splits_match(nested_splits_lists):
    """Ops that fail where ragged tensors have other row splits than the first."""
    first = nested_splits_lists[0]
    for other in nested_splits_lists:
        if len(other) != len(first):
            raise ValueError("Inputs must have identical ragged splits")
    from weft._src.ops.check_ops import assert_equal

    return [
        assert_equal(a, b, message="Inputs must have identical ragged splits")
        for other in nested_splits_lists[1:]
        for a, b in zip(first, other)
    ]
