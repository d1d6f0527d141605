"""tf.distribute beyond what the programs show: replicas and their threads, refusals, what is there beside TensorFlow's."""

import gc
import json
import threading
import weakref

import pytest

import weft as tf


@pytest.fixture(scope="module")
def strategy():
    cpu = tf.config.list_physical_devices("CPU")[0]
    try:
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    except RuntimeError:
        pytest.skip("devices are made already: this file runs alone")
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def replica():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def numbers(value):
    return [v.numpy().tolist() for v in value.values]


def test_replicas_take_turns_and_leave_no_threads(strategy):
    seen = []

    def run():
        number = int(replica())
        seen.append((number, "a"))
        total = tf.distribute.get_replica_context().all_reduce("SUM", replica() + 1)
        seen.append((number, "b"))
        return total

    before = threading.active_count()
    assert numbers(strategy.run(run)) == [3.0, 3.0]
    assert seen == [(0, "a"), (1, "a"), (0, "b"), (1, "b")]
    with pytest.raises(ZeroDivisionError):
        strategy.run(
            lambda: 1 / 0 if int(replica()) == 1 else tf.distribute.get_replica_context().merge_call(lambda s: 1)
        )
    assert threading.active_count() == before


def test_an_error_in_a_trace_leaves_the_trace_usable(strategy):
    @tf.function
    def f():
        try:
            strategy.run(lambda: tf.distribute.get_replica_context().merge_call(lambda s: 1 / 0))
        except ZeroDivisionError:
            pass
        return strategy.reduce("SUM", strategy.run(replica), axis=None)

    assert f().numpy() == 1.0


def test_state_of_the_calling_thread_comes_back(strategy):
    with tf.name_scope("outer"), tf.device("CPU:1"):
        made = strategy.run(lambda: tf.Variable(1.0, name="inner"))
        assert made.name == "outer/inner:0" and made.values[1].name == "outer/inner/replica_1:0"
        assert tf.Variable(1.0, name="after").name == "outer/after:0"
        assert tf.constant(1.0).device.endswith("CPU:1")
    assert not tf.distribute.has_strategy()


def test_control_dependencies_of_replicas_stay_theirs(strategy):
    with strategy.scope():
        v = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def f():
        def run():
            with tf.control_dependencies([v.assign_add(replica() + 1)]):
                tf.distribute.get_replica_context().merge_call(lambda s: None)
                return tf.identity(v.read_value())

        return strategy.run(run)

    assert numbers(f()) == [1.0, 2.0]
    assert numbers(f()) == [2.0, 4.0]


def test_threads_of_the_user_run_at_once(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    results = []

    def work(k):
        f = tf.function(lambda: strategy.run(lambda: v * k + replica()))
        results.append((k, numbers(f())))

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(results) == [(float(k), [float(k), k + 1.0]) for k in range(4)]


def test_distributed_variables_are_freed(strategy):
    with strategy.scope():
        v = tf.Variable([1.0])
    gone = weakref.ref(v), weakref.ref(v.values[1])
    strategy.run(lambda: v + 1)
    del v
    gc.collect()
    assert gone[0]() is None and gone[1]() is None


def test_summaries_are_the_first_replicas(strategy, tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    def run():
        tf.summary.scalar("x", replica(), step=1)
        return tf.summary.should_record_summaries()

    with writer.as_default():
        assert numbers(strategy.run(run)) == [True, False]


def test_reads_in_replicas_can_be_synchronised(strategy):
    with strategy.scope():
        v = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)

    def run():
        v.assign(replica() + 1)
        with tf.__internal__.distribute.variable_sync_on_read_context():
            return v + 0.0

    assert numbers(strategy.run(run)) == [3.0, 3.0]


def test_merge_call_helpers(strategy):
    internal = tf.__internal__.distribute
    assert internal.strategy_supports_no_merge_call()
    assert internal.interim.maybe_merge_call(lambda s, x: x + 1, tf.distribute.get_strategy(), 1) == 2
    assert strategy.run(lambda: internal.strategy_supports_no_merge_call()) is False
    called = strategy.run(
        lambda: internal.interim.maybe_merge_call(lambda s, x: s.reduce("SUM", x, None), strategy, replica())
    )
    assert called.numpy() == 1.0


def test_loops_over_distributed_datasets_can_be_left(strategy):
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(20).batch(4))

    @tf.function
    def until(limit):
        total = tf.constant(0, tf.int64)
        for x in dataset:
            total += strategy.reduce("SUM", x, axis=0)
            if total > limit:
                break
        return total

    assert until(tf.constant(10, tf.int64)).numpy() == 28


def test_a_function_keeps_traces_of_replicas_apart(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    strategy.run(lambda: v.assign(replica()))
    f = tf.function(lambda: v * 10.0)
    assert numbers(strategy.run(lambda: f())) == [0.0, 10.0]
    assert numbers(strategy.run(lambda: f())) == [0.0, 10.0] and f.experimental_get_tracing_count() == 2


def test_a_cluster_of_one_worker(monkeypatch):
    config = {"cluster": {"worker": ["localhost:1"]}, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    one = tf.distribute.MultiWorkerMirroredStrategy()
    assert (one.num_replicas_in_sync, one.cluster_resolver.task_type) == (1, "worker")
    assert one.extended.should_checkpoint and not one.extended._in_multi_worker_mode()
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["a:1"], "ps": ["b:1"]})
    )
    with pytest.raises(ValueError, match="you must also specify `task_type` and `task_id`"):
        tf.distribute.MultiWorkerMirroredStrategy(resolver)
    with pytest.raises(NotImplementedError, match="no TPU devices"):
        tf.distribute.TPUStrategy(resolver)
    with pytest.raises(NotImplementedError, match="devices of another process"):
        tf.distribute.MirroredStrategy(["/job:worker/task:0/device:CPU:0"])


def test_sagemaker(monkeypatch):
    from weft._src.distribute.platform_resolvers import SageMakerClusterResolver

    monkeypatch.delenv("SM_HOSTS", raising=False)
    with pytest.raises(AssertionError, match="Not a SageMaker Environment"):
        SageMakerClusterResolver().cluster_spec()
    monkeypatch.setenv("SM_HOSTS", '["algo-2", "algo-1"]')
    monkeypatch.setenv("SM_CURRENT_HOST", "algo-2")
    r = SageMakerClusterResolver(rpc_layer="grpc")
    assert r.cluster_spec().as_dict() == {"worker": ["algo-1:2223", "algo-2:2223"]}
    assert (r.task_type, r.task_id, r.master(), r.master("worker", 0)) == (
        "worker", 1, "grpc://algo-2:2223", "grpc://algo-1:2223",
    )  # fmt: skip
    monkeypatch.setenv("SM_CURRENT_HOST", "elsewhere")
    assert (r.cluster_spec().as_dict(), r.task_type, r.task_id, r.master()) == ({}, None, None, "")


def test_kubernetes_by_its_api():
    import http.server
    import threading
    import urllib.parse

    from weft._src.distribute.platform_resolvers import PodList

    pods = {"app=w": ["10.0.0.2", "10.0.0.1"], "app=p": ["10.0.0.9"]}
    asked = []

    class Api(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((urllib.parse.urlparse(self.path).path, self.headers["Authorization"]))
            label = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)["labelSelector"][0]
            items = [
                {"metadata": {"name": ip}, "status": {"phase": "Running", "hostIP": ip, "podIP": "1.1.1.1"}}
                for ip in pods[label]
            ]
            body = json.dumps({"kind": "PodList", "items": items}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        client = PodList(f"http://127.0.0.1:{server.server_port}", "secret")
        labels = {"worker": ["app=w"], "ps": ["app=p"]}
        r = tf.distribute.cluster_resolver.KubernetesClusterResolver(labels, 8000, override_client=client)
        assert r.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8000", "10.0.0.2:8000"], "ps": ["10.0.0.9:8000"]}
        assert set(asked) == {("/api/v1/pods", "Bearer secret")}
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("grace", [0, 1])
def test_preemption(tmp_path, grace):
    """A run after the notice, then the checkpoint and the end; the next start goes on from there."""
    import os
    import signal

    class Ended(Exception):
        pass

    def leave():
        raise Ended

    config = tf.distribute.experimental.TerminationConfig(exit_fn=leave, grace_period=grace)
    before = signal.getsignal(signal.SIGTERM)
    try:
        v = tf.Variable(0.0)
        checkpoint = tf.train.Checkpoint(v=v)
        handler = tf.distribute.experimental.PreemptionCheckpointHandler(None, checkpoint, str(tmp_path), config)
        for _ in range(3):
            handler.run(v.assign_add, 1.0)
        assert not list(tmp_path.iterdir())
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Ended):
            for _ in range(1000):
                handler.run(lambda: (v.assign_add(1.0), __import__("time").sleep(0.01 * grace)))
        assert handler.total_run_calls == float(v) and (float(v) == 4.0 if grace == 0 else float(v) > 5.0)
        w = tf.Variable(0.0)
        again = tf.distribute.experimental.PreemptionCheckpointHandler(
            None, tf.train.Checkpoint(v=w), str(tmp_path), config
        )
        assert again.total_run_calls == handler.total_run_calls and float(w) == float(v)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_expanded_copies_are_refused(strategy, tmp_path):
    with strategy.scope():
        module = tf.Module()
        module.v = tf.Variable(1.0)
    policy = tf.saved_model.experimental.VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES
    with pytest.raises(NotImplementedError, match="EXPAND_DISTRIBUTED_VARIABLES"):
        tf.saved_model.save(
            module, str(tmp_path), options=tf.saved_model.SaveOptions(experimental_variable_policy=policy)
        )


def test_the_namespace_is_loaded_when_asked_for():
    import subprocess
    import sys

    code = "import sys, weft; weft.Variable(1.0); assert not [m for m in sys.modules if m.startswith(('weft.distribute', 'weft._src.distribute'))]; weft.distribute.has_strategy()"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tf.distribute.nothing


def test_servers_of_this_process_share_devices_and_state():
    v1 = tf.compat.v1
    cluster = {"worker": ["localhost:0"], "ps": ["127.0.0.1:0"]}
    worker = tf.distribute.Server(cluster, job_name="worker")
    server = v1.train.Server(cluster, job_name="ps", start=False)
    assert worker.target.startswith("grpc://localhost:") and server.server_def.job_name == "ps"
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = v1.get_variable("v", initializer=2.0)
        with tf.device("/job:worker/task:0"):
            y = v * 3.0
        start, step = v1.global_variables_initializer(), v.assign_add(1.0).op
        with v1.Session(worker.target) as session, pytest.raises(tf.errors.UnavailableError):
            session.run(start)
        server.start()
        with v1.Session(worker.target) as session:
            session.run(start)
            session.run(step)
            assert session.sess_str == worker.target.encode()
        with v1.Session(server.target) as session:
            assert session.run(y) == 9.0
            assert {d.name[:12] for d in session.list_devices()} == {"/job:worker/", "/job:ps/repl"}
    with pytest.raises(ValueError, match="Must specify an explicit `job_name`"):
        tf.distribute.Server(cluster)
    with pytest.raises(ValueError, match="Must specify an explicit `task_index`"):
        tf.distribute.Server({"a": ["localhost:0", "localhost:0"]})
    with pytest.raises(TypeError, match="Could not convert `server_or_cluster_def`"):
        tf.distribute.Server(3)
    with pytest.raises(tf.errors.NotFoundError, match="No server factory registered"):
        tf.distribute.Server(cluster, "ps", protocol="other")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse port"):
        tf.distribute.Server({"a": ["localhost"]})
    assert tf.distribute.Server.create_local_server(start=False).server_def.cluster.job[0].name == "localhost"
