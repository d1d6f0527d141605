"""QueueRunner: threads that keep a queue filled while a session is open."""

import threading
import weakref

from weft._src.compat.session import get_default_session
from weft._src.compat.v1.variables import GraphKeys, add_to_collection, get_collection
from weft._src.framework import errors
from weft._src.framework.graph import executing_eagerly


class QueueRunner:
    """The enqueue ops of a queue, each run again and again by a thread of its own."""

    def __init__(
        self,
        queue=None,
        enqueue_ops=None,
        close_op=None,
        cancel_op=None,
        queue_closed_exception_types=None,
        queue_runner_def=None,
        import_scope=None,
    ):
        if executing_eagerly():
            raise RuntimeError(
                "QueueRunners are not supported when eager execution is enabled. Instead, please use tf.data to get data into your model."
            )
        if queue_runner_def is not None:
            raise NotImplementedError("weft makes no QueueRunner from a QueueRunnerDef")
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        types = queue_closed_exception_types or (errors.OutOfRangeError,)
        if not isinstance(types, tuple) or not all(issubclass(t, errors.OpError) for t in types):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: %s" % (types,)
            )
        self._queue, self._enqueue_ops, self._closed_types = queue, enqueue_ops, types
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._lock, self._running, self._exceptions = threading.Lock(), weakref.WeakKeyDictionary(), []

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._closed_types)
    exceptions_raised = property(lambda self: self._exceptions)
    name = property(lambda self: self._queue.name)

    def _run(self, session, op, coord):
        """The last thread whose input has ended closes the queue."""
        ended = False
        try:
            while not (coord and coord.should_stop()):
                try:
                    session.run(op)
                except self._closed_types:
                    ended = True
                    return
        except Exception as e:
            if not coord:
                with self._lock:
                    self._exceptions.append(e)
                raise
            coord.request_stop(e)
        finally:
            with self._lock:
                self._running[session] -= 1
                last = ended and self._running[session] == 0
            if last:
                self._quietly(session, self._close_op)

    @staticmethod
    def _quietly(session, op):
        try:
            session.run(op)
        except Exception:  # the queue may be closed already, and so may the session
            pass

    def _close_on_stop(self, session, coord):
        coord.wait_for_stop()
        self._quietly(session, self._cancel_op)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._exceptions = []
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord), name=f"QueueRunnerThread-{self.name}-{op.name}")
            for op in self._enqueue_ops
        ]
        if coord:
            name = f"QueueRunnerThread-{self.name}-close_on_stop"
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, coord), name=name))
        for t in threads:
            if coord:
                coord.register_thread(t)
            t.daemon = daemon
            if start:
                t.start()
        return threads


def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS):
    add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=GraphKeys.QUEUE_RUNNERS):
    """Starts the runners of the session's graph and gives their threads."""
    if executing_eagerly():
        raise RuntimeError("Queues are not compatible with eager execution.")
    if sess is None:
        sess = get_default_session()
        if not sess:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)"
            )
    with sess.graph.as_default():
        return [
            t
            for qr in get_collection(collection)
            for t in qr.create_threads(sess, coord=coord, daemon=daemon, start=start)
        ]
