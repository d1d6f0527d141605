"""Hooks of sessions that save checkpoints, write summaries and watch values."""

import os
import time

from weft._src import proto
from weft._src.compat.v1 import logging
from weft._src.compat.v1.train.monitored import SessionRunArgs, SessionRunHook
from weft._src.framework.graph import get_default_graph


class SecondOrStepTimer:
    """Tells whether so many seconds or steps have passed."""

    def __init__(self, every_secs=None, every_steps=None):
        self.reset()
        self._every_secs, self._every_steps = every_secs, every_steps
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")

    def reset(self):
        self._last_triggered_step, self._last_triggered_time = None, None

    def should_trigger_for_step(self, step):
        if self._last_triggered_step is None:
            return True
        if self._last_triggered_step == step:
            return False
        if self._every_secs is not None and time.time() >= self._last_triggered_time + self._every_secs:
            return True
        return self._every_steps is not None and step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step):
        """(seconds, steps) since the last time."""
        now = time.time()
        if self._last_triggered_step is None:
            passed = None, None
        else:
            passed = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return passed

    def last_triggered_step(self):
        return self._last_triggered_step


def _global_step(hook):
    from weft._src.compat.v1.train.steps import get_global_step

    step = get_global_step()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return step


class CheckpointSaverListener:
    """Is told of checkpoints that a CheckpointSaverHook writes."""

    def begin(self):
        pass

    def before_save(self, session, global_step_value):
        pass

    def after_save(self, session, global_step_value):
        pass

    def end(self, session, global_step_value):
        pass


class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint every so many steps or seconds, and at the end."""

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename="model.ckpt",
        scaffold=None,
        listeners=None,
        save_graph_def=True,
    ):
        logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._folder = checkpoint_dir
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners, self._save_graph_def = listeners or [], save_graph_def

    def begin(self):
        from weft._src.compat.v1.summary import FileWriterCache

        self._writer = FileWriterCache.get(self._folder)
        self._step = _global_step("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord):
        step = int(session.run(self._step))
        if self._save_graph_def:
            from weft._src.ops.io_ops import write_graph

            write_graph(get_default_graph().as_graph_def(add_shapes=True), self._folder, "graph.pbtxt")
        self._writer.add_graph(get_default_graph())
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if self._timer.should_trigger_for_step(run_values.results + 1):
            # The step that was fetched may be of before the run.
            step = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(step):
                self._timer.update_last_triggered_step(step)
                if self._save(run_context.session, step):
                    run_context.request_stop()

    def end(self, session):
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session, step):
        """Whether a listener wants to stop."""
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._path, global_step=step, write_meta_graph=self._save_graph_def)
        self._writer.add_session_log(
            proto.SessionLog(status=proto.SessionLog.CHECKPOINT, checkpoint_path=self._path), step
        )
        return any([listener.after_save(session, step) for listener in self._listeners])

    def _get_saver(self):
        if self._saver is None and self._scaffold is not None and self._scaffold.saver is not None:
            self._saver = self._scaffold.saver
        if self._saver is None:
            savers = get_default_graph().get_collection("savers")
            if not savers:
                raise RuntimeError(
                    "No items in collection savers. Please add a saver to the collection or provide a saver or scaffold."
                )
            if len(savers) > 1:
                raise RuntimeError(
                    "More than one item in collection savers. Please indicate which one to use by passing it to the constructor."
                )
            self._saver = savers[0]
        return self._saver


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds."""

    def __init__(
        self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None, summary_op=None
    ):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._writer, self._folder, self._scaffold = summary_op, summary_writer, output_dir, scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        from weft._src.compat.v1.summary import FileWriterCache

        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._next_step = None
        self._step = _global_step("SummarySaverHook")

    def before_run(self, run_context):
        self._due = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        fetches = {"global_step": self._step}
        op = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        if self._due and op is not None:
            fetches["summary"] = op
        return SessionRunArgs(fetches)

    def after_run(self, run_context, run_values):
        if not self._writer:
            return
        found = run_values.results
        step = int(found["global_step"]) + 1  # that of before the run
        if self._next_step is None or self._due:
            step = int(run_context.session.run(self._step))
        if self._next_step is None:
            self._writer.add_session_log(proto.SessionLog(status=proto.SessionLog.START), step)
        if self._due:
            self._timer.update_last_triggered_step(step)
            summaries = found.get("summary")
            for summary in summaries if isinstance(summaries, list) else [summaries]:
                if summary is not None:
                    self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session=None):
        if self._writer:
            self._writer.flush()


class StepCounterHook(SessionRunHook):
    """Logs how many steps a second pass."""

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._writer, self._folder = summary_writer, output_dir

    def begin(self):
        from weft._src.compat.v1.summary import FileWriterCache

        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._step = _global_step("StepCounterHook")
        self._tag = self._step.op.name + "/sec"

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._step))
        if not self._timer.should_trigger_for_step(step):
            return
        seconds, steps = self._timer.update_last_triggered_step(step)
        if seconds is not None:
            self._log_and_record(steps, seconds, step)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        rate = elapsed_steps / elapsed_time
        if self._writer is not None:
            summary = proto.Summary(value=[proto.Summary.Value(tag=self._tag, simple_value=rate)])
            self._writer.add_summary(summary, global_step)
        logging.info("%s: %g", self._tag, rate)


class NanLossDuringTrainingError(RuntimeError):
    """The loss was not a number."""

    def __str__(self):
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops when the loss is not a number."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        import numpy as np

        if np.isnan(run_values.results):
            message = "Model diverged with loss = NaN."
            if self._fail:
                logging.error(message)
                raise NanLossDuringTrainingError
            logging.warning(message)
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Waits until the global step has come so far."""

    def __init__(self, wait_until_step):
        self._wait_until_step = wait_until_step

    def begin(self):
        self._is_waiting, self._step = True, _global_step("_GlobalStepWaiterHook")

    def before_run(self, run_context):
        if not self._is_waiting or self._wait_until_step <= 0:
            return None
        logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
        shown = 0
        while True:
            step = int(run_context.session.run(self._step))
            if step >= self._wait_until_step:
                logging.info("Done waiting. Global step is %d.", step)
                self._is_waiting = False
                return None
            if step - shown > 1000:
                logging.info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    self._wait_until_step,
                    step,
                )
                shown = step
            time.sleep(0.5)
