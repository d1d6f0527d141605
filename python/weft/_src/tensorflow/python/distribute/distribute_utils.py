"""Blocks in which variables are read once. tf-keras."""

import contextlib

from weft._src.distribute import extended as _extended, strategy as _strategy

# What Keras asks every strategy, and those of one process leave out; strategies that differ say so themselves.
for _class, _name, _value in (
    (_strategy.StrategyBase, "_should_use_with_coordinator", False),
    (_strategy.StrategyBase, "_cluster_coordinator", None),
    (_extended.StrategyExtendedV2, "_global_batch_size", True),
):
    if not hasattr(_class, _name):
        setattr(_class, _name, _value)


@contextlib.contextmanager
def cache_variable_reads():
    """Reads of variables that are kept on other devices may be kept; those of one process are not."""
    yield
