"""numpy is loaded when it is first needed, often in the middle of a long program, and once it has begun to load it cannot be loaded again in the process.
An interrupt that comes while it loads is therefore kept until it is there."""

import os
import sys


class _Loader:
    """numpy's own loader, with interrupts after its work."""

    def __init__(self, finder, loader):
        self._finder, self._loader = finder, loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        import signal
        import threading

        module.__loader__ = module.__spec__.loader = self._loader
        # Only the main thread is interrupted. None: a handler that is not Python's.
        before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
        came = []
        if callable(before):
            signal.signal(signal.SIGINT, lambda *_: came.append(True))
        try:
            self._loader.exec_module(module)
        finally:
            if callable(before):
                signal.signal(signal.SIGINT, before)
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        if came:
            # Not here: a loader that fails takes the module back.
            late = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
            late.daemon = True
            late.start()


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "numpy":
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(self, spec.loader)
                return spec
        return None


if "numpy" not in sys.modules:
    sys.meta_path.insert(0, _Finder())
