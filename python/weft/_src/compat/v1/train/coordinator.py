"""Coordinator: threads that stop together, and the first error that one of them met."""

import contextlib
import threading
import time

from weft._src.framework import errors


class Coordinator:
    """Threads ask should_stop(); one of them, or the owner, calls request_stop(); the owner joins them all."""

    def __init__(self, clean_stop_exception_types=None):
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean = tuple(clean_stop_exception_types)
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._error, self._joined, self._threads = None, False, set()

    joined = property(lambda self: self._joined)

    def _without_clean(self, ex):
        if isinstance(ex, tuple):  # sys.exc_info()
            ex = ex[1]
        return None if isinstance(ex, self._clean) else ex

    def request_stop(self, ex=None):
        with self._lock:
            ex = self._without_clean(ex)
            if self._joined:
                if isinstance(ex, BaseException):
                    raise ex
                return
            if not self._stop.is_set():
                self._error = ex
                self._stop.set()

    def clear_stop(self):
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def should_stop(self):
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except Exception as e:
            self.request_stop(e)

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def register_thread(self, thread):
        with self._lock:
            self._threads.add(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        with self._lock:
            threads = self._threads.union(threads or ())
        while any(t.is_alive() for t in threads) and not self.wait_for_stop(1.0):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for t in threads:
            t.join(max(0.0, deadline - time.monotonic()))
        stragglers = [t.name for t in threads if t.is_alive()]
        with self._lock:
            self._joined, self._threads = True, set()
            if self._error is not None:
                raise self._error
            if stragglers and not ignore_live_threads:
                raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(stragglers)}")

    def raise_requested_exception(self):
        with self._lock:
            if self._error is not None:
                raise self._error


class LooperThread(threading.Thread):
    """Calls run_loop every so many seconds, until the coordinator stops."""

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        if not isinstance(coord, Coordinator):
            raise ValueError("'coord' argument must be a Coordinator: %s" % coord)
        super().__init__()
        self.daemon = True
        self._coord, self._interval, self._target = coord, timer_interval_secs, target
        if target:
            self._args, self._kwargs = args or (), kwargs or {}
        elif args or kwargs:
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self):
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                due = time.time()
                while not self._coord.wait_for_stop(due - time.time()):
                    due += self._interval
                    self.run_loop()
            self.stop_loop()

    def start_loop(self):
        pass

    def stop_loop(self):
        pass

    def run_loop(self):
        if self._target:
            self._target(*self._args, **self._kwargs)
