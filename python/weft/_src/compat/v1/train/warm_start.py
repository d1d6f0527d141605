"""tf.compat.v1.train.VocabInfo: how rows of a variable move from an old vocabulary to a new one."""

import collections

VocabInfo = collections.namedtuple(
    "VocabInfo",
    ["new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab", "old_vocab_size", "backup_initializer", "axis"],
    defaults=[-1, None, 0],
)
