"""Locks that are free in the child of a fork, whichever thread held them, and imports that are not cut in two."""

import importlib
import os
import sys
import threading
import time
import weakref

_locks = weakref.WeakSet()


def lock():
    """A threading.Lock for what is whole at each line that runs while it is held."""
    made = threading.Lock()
    _locks.add(made)
    return made


def recursive_lock():
    """A threading.RLock of that kind."""
    made = threading.RLock()
    _locks.add(made)
    return made


def _renew():
    for each in list(_locks):
        if not (hasattr(each, "_is_owned") and each._is_owned()):  # the forking thread's stay
            each._at_fork_reinit()


def _imports_of_others():
    """The modules that other threads are importing."""
    locks = getattr(importlib._bootstrap, "_module_locks", {})
    held = {name: lock() for name, lock in list(locks.items())}
    me = threading.get_ident()
    return [name for name, lock in held.items() if getattr(lock, "owner", None) not in (None, me)]


def _wait_for_imports():
    end = time.monotonic() + 2
    while _imports_of_others() and time.monotonic() < end:
        time.sleep(0.001)


def _forget_imports():
    """In the child: what a thread was importing that is not there is imported anew."""
    for name in _imports_of_others():
        importlib._bootstrap._module_locks.pop(name, None)
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]


def _in_child():
    _renew()
    _forget_imports()


os.register_at_fork(before=_wait_for_imports, after_in_child=_in_child)
