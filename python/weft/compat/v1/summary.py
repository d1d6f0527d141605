"""tf.compat.v1.summary: summaries of graphs."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.summary: FileWriter FileWriterCache all_v2_summary_ops audio get_summary_description histogram image initialize merge merge_all scalar
compat.v1.summary: tensor_summary text
"""

__getattr__, __dir__ = _namespace(globals(), "summary", _MODULES)
