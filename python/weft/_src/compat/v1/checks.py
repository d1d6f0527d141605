"""tf.compat.v1.assert_*: version 2's checks, which take the data to print, too."""

from weft._src.framework.dispatch import dispatchable
from weft._src.ops import check_ops, math_ops


def _with(message, data):
    """The data to print: the message comes first."""
    return data if data is None or not message else [message, *data]


def _binary(name, sign, op):
    def check(x, y, data=None, summarize=None, message=None, name=None):
        return check_ops.comparison(sign, op, check.__name__, x, y, message, summarize, name, _with(message, data))

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"x {sign} y everywhere."
    return dispatchable(check)


assert_none_equal = _binary("assert_none_equal", "!=", math_ops.not_equal)
assert_less = _binary("assert_less", "<", math_ops.less)
assert_less_equal = _binary("assert_less_equal", "<=", math_ops.less_equal)
assert_greater = _binary("assert_greater", ">", math_ops.greater)
assert_greater_equal = _binary("assert_greater_equal", ">=", math_ops.greater_equal)


@dispatchable
def assert_equal(x, y, data=None, summarize=None, message=None, name=None):
    """x == y everywhere."""
    if data is None:
        return check_ops.assert_equal(x, y, message, summarize, name)
    return check_ops.comparison(
        "==", math_ops.equal, "assert_equal", x, y, message, summarize, name, _with(message, data)
    )


@dispatchable
def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    """|x - y| <= atol + rtol * |y| everywhere."""
    return check_ops.near(x, y, rtol, atol, message, summarize, name, data)


def _sign(name):
    def check(x, data=None, summarize=None, message=None, name=None):
        return check_ops.sign(check.__name__, x, message, summarize, name, data)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = getattr(check_ops, name).__doc__
    return dispatchable(check)


assert_positive = _sign("assert_positive")
assert_negative = _sign("assert_negative")
assert_non_negative = _sign("assert_non_negative")
assert_non_positive = _sign("assert_non_positive")


@dispatchable
def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    """x has this rank."""
    return check_ops.ranks_hold("assert_rank", x, [rank], message, name, data, summarize)


@dispatchable
def assert_rank_at_least(x, rank, data=None, summarize=None, message=None, name=None):
    """x has at least this rank."""
    return check_ops.ranks_hold("assert_rank_at_least", x, [rank], message, name, data, summarize)


@dispatchable
def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    """x has one of these ranks."""
    return check_ops.ranks_hold("assert_rank_in", x, list(ranks), message, name, data, summarize)
