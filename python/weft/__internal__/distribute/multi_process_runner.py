"""tf.__internal__.distribute.multi_process_runner"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.multi_process_runner: NotInitializedError SubprocessTimeoutError UnexpectedSubprocessExitError create_cluster_spec get_barrier run test_main
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.distribute.multi_process_runner", _MODULES)
