"""Sessions with hooks: what is called around every run."""

import collections
import contextlib
import time

from weft._src.compat.session import Session
from weft._src.compat.v1.train.coordinator import Coordinator
from weft._src.framework import errors
from weft._src.framework.graph import get_default_graph

PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)

SessionRunArgs = collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"], defaults=[None, None])
SessionRunValues = collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])


class SessionRunContext:
    """What hooks know of a run; they can ask to stop."""

    def __init__(self, original_args, session):
        self.original_args, self.session, self._stop = original_args, session, False

    @property
    def stop_requested(self):
        return self._stop

    def request_stop(self):
        self._stop = True


class SessionRunHook:
    """Called when a session begins, around each run, and at the end."""

    def begin(self):
        pass

    def after_create_session(self, session, coord):
        pass

    def before_run(self, run_context):
        return None

    def after_run(self, run_context, run_values):
        pass

    def end(self, session):
        pass


class StopAtStepHook(SessionRunHook):
    """Stops after a number of steps, or at one."""

    def __init__(self, num_steps=None, last_step=None):
        if (num_steps is None) == (last_step is None):
            raise ValueError(
                "One of num_steps or last_step must be specified."
                if num_steps is None
                else "Only one of num_steps or last_step can be specified."
            )
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self):
        from weft._src.compat.v1.train.steps import get_global_step

        self._step = get_global_step()
        if self._step is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = int(session.run(self._step)) + self._num_steps

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 >= self._last_step:
            # The step that was fetched may be of before the run.
            if run_context.session.run(self._step) >= self._last_step:
                run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Prints tensors every so many runs or seconds."""

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        if at_end is False and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tensors = dict(tensors) if isinstance(tensors, dict) else {getattr(t, "name", t): t for t in tensors}
        self._every, self._seconds, self._at_end, self._formatter = every_n_iter, every_n_secs, at_end, formatter
        self._count, self._last = 0, None

    def _due(self):
        if self._every is not None:
            return self._count % self._every == 0
        return self._seconds is not None and (self._last is None or time.time() - self._last >= self._seconds)

    def before_run(self, run_context):
        self._show = self._due()
        return SessionRunArgs(self._tensors) if self._show else None

    def after_run(self, run_context, run_values):
        if self._show:
            self._log(run_values.results)
        self._count += 1

    def _log(self, values):
        from weft._src.compat.v1 import logging

        self._last = time.time()
        logging.info(self._formatter(values) if self._formatter else ", ".join(f"{k} = {v}" for k, v in values.items()))

    def end(self, session):
        if self._at_end:
            self._log(session.run(self._tensors))


class FinalOpsHook(SessionRunHook):
    """Runs ops at the end and keeps their values."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._ops, self._feeds, self.final_ops_values = final_ops, final_ops_feed_dict, None

    def end(self, session):
        if self._ops is not None:
            self.final_ops_values = session.run(self._ops, self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds every run with what a function gives."""

    def __init__(self, feed_fn):
        self._feed = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(fetches=None, feed_dict=self._feed())


class Scaffold:
    """What a session needs to begin."""

    def __init__(
        self,
        init_op=None,
        init_feed_dict=None,
        init_fn=None,
        ready_op=None,
        ready_for_local_init_op=None,
        local_init_op=None,
        summary_op=None,
        saver=None,
        copy_from_scaffold=None,
        local_init_feed_dict=None,
    ):
        self.init_op, self.init_feed_dict, self.init_fn, self.ready_op = init_op, init_feed_dict, init_fn, ready_op
        self.ready_for_local_init_op, self.local_init_op, self.summary_op, self.saver = (
            ready_for_local_init_op,
            local_init_op,
            summary_op,
            saver,
        )
        self.local_init_feed_dict = local_init_feed_dict

    def finalize(self):
        from weft._src.compat.v1 import variables
        from weft._src.function.control_flow import group

        if self.init_op is None:
            self.init_op = group(variables.global_variables_initializer(), name="init")
        if self.local_init_op is None:
            self.local_init_op = group(
                variables.local_variables_initializer(), variables.tables_initializer(), name="local_init"
            )
        if self.summary_op is None:
            from weft._src.compat.v1 import summary

            self.summary_op = summary.merge_all()
        if self.saver is None and variables.global_variables():
            from weft._src.compat.v1.train.saver import Saver

            savers = get_default_graph().get_collection("savers")
            self.saver = savers[0] if savers else Saver(sharded=True, allow_empty=True)
        return self


class SessionCreator:
    """Makes sessions."""

    def create_session(self):
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class ChiefSessionCreator(SessionCreator):
    """Makes the session of a MonitoredSession."""

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        self._scaffold, self._master, self._config = scaffold or Scaffold(), master, config
        self._folder, self._path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self):
        from weft._src.trackable.checkpoint_files import latest_checkpoint

        scaffold = self._scaffold.finalize()
        session = Session(self._master, graph=get_default_graph(), config=self._config)
        path = self._path or (latest_checkpoint(self._folder) if self._folder else None)
        if path is not None:
            from weft._src.compat.v1.train.saver import Saver

            scaffold.saver = scaffold.saver or Saver()
            scaffold.saver.restore(session, path)
        else:
            session.run(scaffold.init_op, scaffold.init_feed_dict)
            if scaffold.init_fn is not None:
                scaffold.init_fn(scaffold, session)
        session.run(scaffold.local_init_op, scaffold.local_init_feed_dict)
        return session


class WorkerSessionCreator(SessionCreator):
    """Makes the session of a MonitoredSession whose variables another client, the chief, initialises: waits for that."""

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=1800):
        self._scaffold, self._master, self._config = scaffold or Scaffold(), master, config
        self._max_wait, self._ready = max_wait_secs, None

    def create_session(self):
        from weft._src.compat.v1 import variables

        scaffold = self._scaffold.finalize()
        if self._ready is None:
            self._ready = (
                scaffold.ready_op if scaffold.ready_op is not None else variables.report_uninitialized_variables()
            )
        end = time.monotonic() + self._max_wait
        while True:
            session = Session(self._master, graph=get_default_graph(), config=self._config)
            try:
                missing = session.run(self._ready)
                if len(missing) == 0:
                    session.run(scaffold.local_init_op, scaffold.local_init_feed_dict)
                    return session
            except PREEMPTION_ERRORS:
                pass
            session.close()
            if time.monotonic() > end:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {self._max_wait} secs."
                )
            time.sleep(0.5)


class MonitoredSession:
    """A session with hooks, initialised at the start. One that a worker's end took away is made again."""

    _recovers = True

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        self._hooks, self._creator = list(hooks or ()), session_creator or ChiefSessionCreator()
        for hook in self._hooks:
            hook.begin()
        self._coordinator = Coordinator()
        self._stop = False
        self._create()

    def _create(self):
        with self._graph_of_creator():
            self._session = self._creator.create_session()
        for hook in self._hooks:
            hook.after_create_session(self._session, self._coordinator)

    def _graph_of_creator(self):
        session = getattr(self, "_session", None)
        return session.graph.as_default() if session is not None else contextlib.nullcontext()

    def _again(self):
        """The session was lost: its master or one of its workers was started again."""
        with contextlib.suppress(errors.OpError):
            self._session.close()
        while True:
            try:
                return self._create()
            except PREEMPTION_ERRORS:
                time.sleep(0.5)

    @property
    def graph(self):
        return self._session.graph

    def should_stop(self):
        return self._stop or self._session is None

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs, with what the hooks ask for."""
        if self._session is None or self._stop:
            raise RuntimeError("Run called even after should_stop requested.")
        while True:
            try:
                return self._run_once(fetches, feed_dict, options, run_metadata)
            except PREEMPTION_ERRORS:
                if not self._recovers:
                    raise
                self._again()

    def _run_once(self, fetches, feed_dict, options, run_metadata):
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._session)
        asked, feeds, wanted = {"caller": fetches}, dict(feed_dict or {}), {}
        for i, hook in enumerate(self._hooks):
            request = hook.before_run(context)
            if request is not None:
                if request.fetches is not None:
                    asked[f"hook_{i}"] = wanted[i] = request.fetches
                feeds.update(request.feed_dict or {})
        results = self._session.run(asked, feeds)
        for i, hook in enumerate(self._hooks):
            hook.after_run(context, SessionRunValues(results.get(f"hook_{i}"), options, run_metadata))
        self._stop = self._stop or context.stop_requested
        return results["caller"]

    def run_step_fn(self, step_fn):
        """Runs a function of a context with request_stop, session and run_with_hooks."""

        class Context:
            session, run_with_hooks = self._session, staticmethod(self.run)

            @staticmethod
            def request_stop():
                raise StopIteration("step_fn has requested the iterations to stop.")

        return step_fn(Context())

    def close(self):
        self._end(None)

    def _end(self, error):
        if self._session is None:
            return
        try:
            if error is None:
                for hook in self._hooks:
                    hook.end(self._session)
        finally:
            self._session.close()
            self._session = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        from weft._src.framework.errors import OutOfRangeError

        ends = kind is not None and issubclass(kind, (OutOfRangeError, StopIteration))
        self._end(None if ends or kind is None else error)
        return ends


class SingularMonitoredSession(MonitoredSession):
    """The same without another try."""

    _recovers = False

    def __init__(
        self,
        hooks=None,
        scaffold=None,
        master="",
        config=None,
        checkpoint_dir=None,
        stop_grace_period_secs=120,
        checkpoint_filename_with_path=None,
    ):
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs)

    def raw_session(self):
        return self._session


USE_DEFAULT = object()


def MonitoredTrainingSession(
    master="",
    is_chief=True,
    checkpoint_dir=None,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=USE_DEFAULT,  # noqa: N802
    save_summaries_steps=USE_DEFAULT,
    save_summaries_secs=USE_DEFAULT,
    config=None,
    stop_grace_period_secs=120,
    log_step_count_steps=100,
    max_wait_secs=7200,
    save_checkpoint_steps=USE_DEFAULT,
    summary_dir=None,
    save_graph_def=True,
):
    """A MonitoredSession for training: the chief saves checkpoints and summaries."""
    from weft._src.compat.v1.train import hooks as made

    if save_summaries_steps is USE_DEFAULT and save_summaries_secs is USE_DEFAULT:
        save_summaries_steps, save_summaries_secs = 100, None
    save_summaries_steps = None if save_summaries_steps is USE_DEFAULT else save_summaries_steps
    save_summaries_secs = None if save_summaries_secs is USE_DEFAULT else save_summaries_secs
    if save_checkpoint_steps is USE_DEFAULT and save_checkpoint_secs is USE_DEFAULT:
        save_checkpoint_steps, save_checkpoint_secs = None, 600
    save_checkpoint_steps = None if save_checkpoint_steps is USE_DEFAULT else save_checkpoint_steps
    save_checkpoint_secs = None if save_checkpoint_secs is USE_DEFAULT else save_checkpoint_secs
    scaffold = scaffold or Scaffold()
    if not is_chief:
        return MonitoredSession(WorkerSessionCreator(scaffold, master, config, max_wait_secs), list(hooks or ()))
    all_hooks = list(chief_only_hooks or ())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(made.StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        if (save_summaries_steps and save_summaries_steps > 0) or (save_summaries_secs and save_summaries_secs > 0):
            all_hooks.append(
                made.SummarySaverHook(
                    scaffold=scaffold,
                    save_steps=save_summaries_steps,
                    save_secs=save_summaries_secs,
                    output_dir=summary_dir,
                )
            )
    if checkpoint_dir and (
        (save_checkpoint_secs and save_checkpoint_secs > 0) or (save_checkpoint_steps and save_checkpoint_steps > 0)
    ):
        all_hooks.append(
            made.CheckpointSaverHook(
                checkpoint_dir,
                save_steps=save_checkpoint_steps,
                save_secs=save_checkpoint_secs,
                scaffold=scaffold,
                save_graph_def=save_graph_def,
            )
        )
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, [*all_hooks, *(hooks or ())], stop_grace_period_secs)
