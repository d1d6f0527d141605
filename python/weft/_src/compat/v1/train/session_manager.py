"""tf.compat.v1.train.SessionManager: sessions whose variables are restored, initialised or waited for."""

import time

from weft._src.compat.session import Session
from weft._src.framework import errors
from weft._src.framework.graph import get_default_graph


class SessionManager:
    """Makes sessions and brings their variables into a state to begin with."""

    def __init__(
        self,
        local_init_op=None,
        ready_op=None,
        ready_for_local_init_op=None,
        graph=None,
        recovery_wait_secs=30,
        local_init_run_options=None,
        local_init_feed_dict=None,
    ):
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op, self._ready_op = local_init_op, ready_op
        self._ready_for_local_init_op, self._recovery_wait_secs = ready_for_local_init_op, recovery_wait_secs
        self._local_init_run_options, self._local_init_feed_dict = local_init_run_options, local_init_feed_dict
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                f"If you pass a ready_for_local_init_op you must also pass a local_init_op , ready_for_local_init_op [{ready_for_local_init_op}]"
            )

    def _session(self, master, config):
        return Session(master, graph=self._graph, config=config)

    def _restored(self, session, saver, checkpoint_dir, checkpoint_filename_with_path, wait, max_wait_secs):
        """Whether a checkpoint was there."""
        from weft._src.trackable.checkpoint_files import get_checkpoint_state

        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
            return False
        if checkpoint_filename_with_path:
            saver.restore(session, checkpoint_filename_with_path)
            return True
        waited, state = 0, get_checkpoint_state(checkpoint_dir)
        while not state or not state.model_checkpoint_path:
            if not wait or waited >= max_wait_secs:
                return False
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs
            state = get_checkpoint_state(checkpoint_dir)
        saver.restore(session, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return True

    def prepare_session(
        self,
        master,
        init_op=None,
        saver=None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
        wait_for_checkpoint=False,
        max_wait_secs=7200,
        config=None,
        init_feed_dict=None,
        init_fn=None,
    ):
        """A session with variables from a checkpoint or from init_op and init_fn; raises where some have no value then."""
        session = self._session(master, config)
        loaded = self._restored(
            session, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs
        )
        if not loaded:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        good, message = self._local_init(session)
        if not good:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  "
                f"Init op: {init_op}, init fn: {init_fn}, error: {message}"
            )
        ready, message = self._ready(self._ready_op, session)
        if not ready:
            raise RuntimeError(
                f"Init operations did not make model ready.  Init op: {init_op}, init fn: {init_fn}, local_init_op: {self._local_init_op}, "
                f"error: {message}"
            )
        return session

    def recover_session(
        self,
        master,
        saver=None,
        checkpoint_dir=None,
        checkpoint_filename_with_path=None,
        wait_for_checkpoint=False,
        max_wait_secs=7200,
        config=None,
    ):
        """(session, whether a checkpoint made it ready)"""
        session = self._session(master, config)
        loaded = self._restored(
            session, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs
        )
        good, _ = self._local_init(session)
        if not loaded or not good:
            return session, False
        return session, self._ready(self._ready_op, session)[0]

    def wait_for_session(self, master, config=None, max_wait_secs=float("Inf")):
        """A session whose variables another client, the chief, has initialised."""
        end = time.monotonic() + (1e15 if max_wait_secs is None else max_wait_secs)
        while True:
            session = self._session(master, config)
            try:
                if self._local_init(session)[0] and self._ready(self._ready_op, session)[0]:
                    return session
            except (errors.AbortedError, errors.UnavailableError, errors.FailedPreconditionError):
                pass
            session.close()
            if time.monotonic() + self._recovery_wait_secs > end:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {max_wait_secs} secs."
                )
            time.sleep(self._recovery_wait_secs)

    def _local_init(self, session):
        """(whether the local variables are initialised, why not)"""
        if self._local_init_op is None:
            return True, None
        ready, message = self._ready(self._ready_for_local_init_op, session)
        if ready:
            session.run(self._local_init_op, feed_dict=self._local_init_feed_dict, options=self._local_init_run_options)
        return ready, message

    @staticmethod
    def _ready(op, session):
        """(whether an op that names what is not ready names nothing, what it says)"""
        if op is None:
            return True, None
        try:
            found = session.run(op)
        except errors.FailedPreconditionError as e:
            if "uninitialized" not in e._notes:
                raise
            return False, str(e)
        if found is None or getattr(found, "size", 0) == 0:
            return True, None
        names = ", ".join(name.decode() if isinstance(name, bytes) else str(name) for name in found)
        return False, f"Variables not initialized: {names}"
