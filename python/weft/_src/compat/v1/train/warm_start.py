"""tf.compat.v1.train.warm_start: variables begin with values of a checkpoint."""

import collections
import re

VocabInfo = collections.namedtuple(
    "VocabInfo",
    ["new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab", "old_vocab_size", "backup_initializer", "axis"],
    defaults=[-1, None, 0],
)


def _variables(vars_to_warm_start):
    """{name: variables} of those that a pattern, names or variables choose."""
    from weft._src.compat.v1.variables import global_variables, trainable_variables

    if vars_to_warm_start is None:
        return {}
    if isinstance(vars_to_warm_start, str):
        chosen = [v for v in trainable_variables() if re.match(vars_to_warm_start, v.op.name)]
    elif all(isinstance(v, str) for v in vars_to_warm_start):
        chosen = [v for v in global_variables() if any(re.match(p, v.op.name) for p in vars_to_warm_start)]
    else:
        chosen = list(vars_to_warm_start)
    return {v.op.name: v for v in chosen}


def warm_start(
    ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None, var_name_to_prev_var_name=None
):
    """Sets the initializers of variables to values of a checkpoint, by their names there."""
    from weft._src.compat.v1.train.saver import init_from_checkpoint
    from weft._src.framework import errors

    if var_name_to_vocab_info:
        raise errors.UnimplementedError(
            None,
            None,
            "tf.compat.v1.train.warm_start with var_name_to_vocab_info is not supported: rows are not moved between vocabularies",
        )
    before = var_name_to_prev_var_name or {}
    chosen = _variables(vars_to_warm_start)
    unknown = set(before) - set(chosen)
    if unknown:
        raise ValueError(
            "You provided the following variables in var_name_to_prev_var_name that were not used: {0}.  Perhaps you misspelled them?  Here is the list of "
            "viable variable names: {1}".format(unknown, list(chosen))
        )
    init_from_checkpoint(ckpt_to_initialize_from, {before.get(name, name): v for name, v in chosen.items()})
