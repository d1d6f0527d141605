"""tf.compat.v1.train.Supervisor: a training session with threads that save checkpoints and write summaries."""

import contextlib
import os
import time

from weft import _weft
from weft._src import proto
from weft._src.compat.v1 import logging
from weft._src.compat.v1.train.coordinator import Coordinator, LooperThread
from weft._src.compat.v1.train.session_manager import SessionManager
from weft._src.framework.graph import get_default_graph


class Supervisor:
    """Coordinates a training program: one session, made from a checkpoint or initialised, and services beside it."""

    USE_DEFAULT = 0

    def __init__(
        self,
        graph=None,
        ready_op=USE_DEFAULT,
        ready_for_local_init_op=USE_DEFAULT,
        is_chief=True,
        init_op=USE_DEFAULT,
        init_feed_dict=None,
        local_init_op=USE_DEFAULT,
        logdir=None,
        summary_op=USE_DEFAULT,
        saver=USE_DEFAULT,
        global_step=USE_DEFAULT,
        save_summaries_secs=120,
        save_model_secs=600,
        recovery_wait_secs=30,
        stop_grace_secs=120,
        checkpoint_basename="model.ckpt",
        session_manager=None,
        summary_writer=USE_DEFAULT,
        init_fn=None,
        local_init_run_options=None,
    ):
        if graph is None and not _weft.in_graph():
            raise RuntimeError("Supervisors are compatible with eager execution.")
        self._graph = get_default_graph() if graph is None else graph
        self._is_chief, self._coord = is_chief, Coordinator()
        self._recovery_wait_secs, self._stop_grace_secs = recovery_wait_secs, stop_grace_secs
        self._init_feed_dict, self._init_fn, self._logdir = init_feed_dict, init_fn, logdir
        self._save_summaries_secs, self._save_model_secs = save_summaries_secs, save_model_secs
        self._save_path = os.path.join(logdir, checkpoint_basename) if logdir and is_chief else None
        self._summary_writer = None
        with self._graph.as_default():
            self._choose(ready_op, ready_for_local_init_op, init_op, local_init_op, summary_op, saver, global_step)
            if is_chief and logdir:
                if summary_writer == Supervisor.USE_DEFAULT:
                    from weft._src.compat.v1.summary import FileWriter

                    self._summary_writer = FileWriter(logdir)
                else:
                    self._summary_writer = summary_writer
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        self._graph_added = False

    def _choose(self, ready_op, ready_for_local_init_op, init_op, local_init_op, summary_op, saver, global_step):
        """What was given, else what the graph has."""
        from weft._src.compat.v1 import summary, variables
        from weft._src.compat.v1.train.saver import Saver
        from weft._src.compat.v1.train.steps import get_global_step
        from weft._src.function.control_flow import group

        def chosen(given, default):
            return default() if isinstance(given, int) and given == Supervisor.USE_DEFAULT else given

        def first(key):
            found = self._graph.get_collection(key)
            return found[0] if found else None

        def or_else(key, make):
            found = first(key)
            return make() if found is None else found

        self._ready_op = chosen(ready_op, lambda: or_else("ready_op", variables.report_uninitialized_variables))
        self._ready_for_local_init_op = chosen(ready_for_local_init_op, lambda: first("ready_for_local_init_op"))
        self._init_op = chosen(init_op, lambda: or_else("init_op", variables.global_variables_initializer))
        self._local_init_op = chosen(
            local_init_op,
            lambda: or_else(
                "local_init_op", lambda: group(variables.local_variables_initializer(), variables.tables_initializer())
            ),
        )
        self._summary_op = chosen(summary_op, lambda: or_else("summary_op", summary.merge_all))
        self._saver = chosen(
            saver, lambda: or_else("savers", lambda: Saver() if variables.global_variables() else None)
        )
        self._global_step = chosen(global_step, get_global_step)

    # ---- what it has

    session_manager = property(lambda self: self._session_manager)
    is_chief = property(lambda self: self._is_chief)
    coord = property(lambda self: self._coord)
    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(lambda self: self._ready_for_local_init_op)
    summary_writer = property(lambda self: self._summary_writer)
    summary_op = property(lambda self: self._summary_op)
    save_summaries_secs = property(lambda self: self._save_summaries_secs)
    save_model_secs = property(lambda self: self._save_model_secs)
    global_step = property(lambda self: self._global_step)
    saver = property(lambda self: self._saver)
    save_path = property(lambda self: self._save_path)

    # ---- sessions

    def prepare_or_wait_for_session(
        self, master="", config=None, wait_for_checkpoint=False, max_wait_secs=7200, start_standard_services=True
    ):
        """The session: the chief makes it ready, others wait until it is."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            session = self._session_manager.prepare_session(
                master,
                init_op=self._init_op,
                saver=self._saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                self.start_standard_services(session)
        else:
            session = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            self.start_queue_runners(session)
        return session

    @contextlib.contextmanager
    def managed_session(self, master="", config=None, start_standard_services=True, close_summary_writer=True):
        """The session for a block; errors of the block and of services are raised when it ends."""
        try:
            session = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as e:
            self.request_stop(e)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                with contextlib.suppress(Exception, UnboundLocalError):
                    session.close()

    def _write_graph(self):
        if self._logdir:
            from weft._src.ops.io_ops import write_graph

            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added:
            self._summary_writer.add_graph(self._graph)
            self._graph_added = True

    # ---- services

    def start_standard_services(self, sess):
        """Threads that write summaries, count steps and save checkpoints; for a chief with a folder."""
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief supervisors can write events."
            )
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            self._summary_writer.add_session_log(
                proto.SessionLog(status=proto.SessionLog.START), int(sess.run(self._global_step))
            )
        threads = []
        if self._save_summaries_secs and self._summary_writer and self._summary_op is not None:
            threads.append(LooperThread(self._coord, self._save_summaries_secs, self._summarize, (sess,)))
        if self._save_summaries_secs and self._summary_writer and self._global_step is not None:
            self._counted = time.time(), int(sess.run(self._global_step))
            threads.append(LooperThread(self._coord, self._save_summaries_secs, self._count, (sess,)))
        if self.saver and self._save_model_secs:
            threads.append(LooperThread(self._coord, self._save_model_secs, self._save, (sess,)))
        for thread in threads:
            thread.start()
        return threads

    def _summarize(self, session):
        self.summary_computed(session, session.run(self._summary_op))

    def _count(self, session):
        before, then = self._counted
        now, step = time.time(), int(session.run(self._global_step))
        self._counted = now, step
        rate = (step - then) / (now - before) if now > before else float("inf")
        tag = f"{self._global_step.op.name}/sec"
        self._summary_writer.add_summary(proto.Summary(value=[proto.Summary.Value(tag=tag, simple_value=rate)]), step)

    def _save(self, session):
        self._saver.save(session, self._save_path, global_step=self._global_step)
        if self._summary_writer and self._global_step is not None:
            log = proto.SessionLog(status=proto.SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
            self._summary_writer.add_session_log(log, int(session.run(self._global_step)))

    def summary_computed(self, sess, summary, global_step=None):
        """Writes a summary that the program has computed."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = int(sess.run(self._global_step))
        self._summary_writer.add_summary(summary, global_step)

    def start_queue_runners(self, sess, queue_runners=None):
        """Threads that fill queues."""
        found = self._graph.get_collection("queue_runners") if queue_runners is None else queue_runners
        return [t for runner in found for t in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)]

    def loop(self, timer_interval_secs, target, args=None, kwargs=None):
        """A thread that calls a function every so many seconds."""
        looper = LooperThread(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    # ---- the end

    def stop(self, threads=None, close_summary_writer=True, ignore_live_threads=False):
        """Ends the services; raises what one of them met."""
        self._coord.request_stop()
        try:
            self._coord.join(
                threads, stop_grace_period_secs=self._stop_grace_secs, ignore_live_threads=ignore_live_threads
            )
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(proto.SessionLog(status=proto.SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added = False

    def request_stop(self, ex=None):
        self._coord.request_stop(ex=ex)

    def should_stop(self):
        return self._coord.should_stop()

    def stop_on_exception(self):
        return self._coord.stop_on_exception()

    def wait_for_stop(self):
        self._coord.wait_for_stop()


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Calls train_step_fn(session, ...) until the supervisor stops; a lost session is made again."""
    from weft._src.framework import errors

    args, kwargs = args or [], kwargs or {}
    restart = True
    while restart:
        restart = False
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *args, **kwargs)
        except errors.AbortedError:
            restart = True
