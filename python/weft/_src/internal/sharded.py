"""tf.__internal__.distribute.ShardedVariable: a name to test values for; none is made here."""

from weft._src.framework import errors


class ShardedVariable:
    """A variable in parts on several parameter servers."""

    def __init__(self, variables, name="ShardedVariable"):
        raise errors.UnimplementedError(None, None, "ShardedVariable is not supported: variables are whole")
