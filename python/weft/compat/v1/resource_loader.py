"""tf.compat.v1.resource_loader"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
compat.v1.testing: get_data_files_path get_path_to_datafile get_root_dir_with_all_resources load_resource readahead_file_path
"""

__getattr__, __dir__ = _lazily(globals(), "tf.compat.v1.resource_loader", _MODULES)
