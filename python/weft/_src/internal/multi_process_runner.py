"""tf.__internal__.distribute.multi_process_runner: clusters of test processes. They are described here, but not started."""

import socket


class NotInitializedError(RuntimeError):
    """A function of test processes was called outside of them."""


class SubprocessTimeoutError(RuntimeError):
    """A test process did not end in time."""

    def __init__(self, msg, mpr_result):
        super().__init__(msg)
        self.mpr_result = mpr_result


class UnexpectedSubprocessExitError(RuntimeError):
    """A test process ended with an error."""

    def __init__(self, msg, mpr_result):
        super().__init__(msg)
        self.mpr_result = mpr_result


def _free_port():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def create_cluster_spec(has_chief=False, num_workers=1, num_ps=0, has_eval=False):
    """A cluster on free ports of this machine."""
    jobs = {"chief": int(has_chief), "worker": num_workers, "ps": num_ps, "evaluator": int(has_eval)}
    return {job: [f"localhost:{_free_port()}" for _ in range(number)] for job, number in jobs.items() if number}


def _refuse(what):
    from weft._src.framework import errors

    raise errors.UnimplementedError(
        None,
        None,
        f"tf.__internal__.distribute.multi_process_runner.{what} is not supported: weft does not start test processes; `weft launch` starts clusters",
    )


def run(fn, cluster_spec, rpc_layer=None, max_run_time=None, return_output=False, timeout=200, args=None, kwargs=None):
    """Runs a function in each task of a cluster."""
    _refuse("run")


def get_barrier():
    """What test processes wait at."""
    raise NotInitializedError(
        "barrier is not defined. You should call get_barrier() inside functions run by multi_process_runner."
    )


def test_main():
    """Runs the tests of the program; there are no test processes to prepare."""
    from absl.testing import absltest

    absltest.main()


test_main.__test__ = False
