"""Structures. tensorflow-probability."""

from weft._src.framework.nest import is_namedtuple as _is_namedtuple, sequence_like as _sequence_like  # noqa: F401


def _yield_sorted_items(iterable):
    """(key, value) of one level, in the order of flatten."""
    from weft._src.framework import nest

    kind = nest._kind(iterable)
    yield from zip(nest._keys(iterable, kind), nest._children(iterable, kind))


def _yield_value(iterable):
    for _, value in _yield_sorted_items(iterable):
        yield value
