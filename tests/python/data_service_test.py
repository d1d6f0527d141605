"""tf.data service of this process: parts, jobs that are shared or left, errors, snapshots that workers write."""

import pathlib
import threading
import time

import pytest

import weft as tf

Dataset = tf.data.Dataset
service = tf.data.experimental.service


@pytest.fixture
def cluster(tmp_path):
    servers = []

    def make(workers=2, **config):
        dispatcher = service.DispatchServer(service.DispatcherConfig(**config))
        address = dispatcher.target.split("://")[1]
        servers.append(dispatcher)
        servers.extend(service.WorkerServer(service.WorkerConfig(address)) for _ in range(workers))
        return dispatcher

    yield make
    for server in servers:
        server.stop()


def test_data_is_cut_among_the_workers_that_are_listed(cluster):
    dispatcher = cluster(1, worker_addresses=["localhost", "elsewhere"])
    part = Dataset.range(6).apply(service.distribute(service.ShardingPolicy.DATA, dispatcher.target))
    assert [int(x) for x in part] == [0, 2, 4]
    other = cluster(1)
    with pytest.raises(tf.errors.NotFoundError, match="is not in the workers list"):
        list(Dataset.range(6).apply(service.distribute(service.ShardingPolicy.DATA, other.target)))


def test_consumers_of_a_job_share_its_elements(cluster):
    dispatcher = cluster()
    shared = service.distribute("distributed_epoch", dispatcher.target, job_name="x")
    got = [[], []]

    def read(mine):
        mine.extend(int(x) for x in Dataset.range(200).apply(shared))

    threads = [threading.Thread(target=read, args=(mine,)) for mine in got]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sorted(got[0] + got[1]) == list(range(200))


def test_each_walk_is_an_epoch_and_may_be_left(cluster):
    dispatcher = cluster()
    endless = Dataset.range(5).repeat().apply(service.distribute("parallel_epochs", dispatcher.target))
    before = threading.active_count()
    for _ in range(3):
        assert len(list(endless.take(4))) == 4
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.05)
    assert threading.active_count() <= before
    finite = Dataset.range(3).apply(service.distribute("distributed_epoch", dispatcher.target, job_name="y"))
    assert sorted(int(x) for x in finite.repeat(2)) == [0, 0, 1, 1, 2, 2]


def test_a_walk_waits_for_the_first_worker(cluster):
    dispatcher = cluster(0)
    got = []
    waiting = Dataset.range(3).apply(service.distribute("parallel_epochs", dispatcher.target))
    thread = threading.Thread(target=lambda: got.extend(int(x) for x in waiting))
    thread.start()
    worker = service.WorkerServer(service.WorkerConfig(dispatcher._address))
    thread.join(30)
    assert got == [0, 1, 2]
    worker.stop()


def test_errors_of_workers_reach_the_consumer(cluster):
    dispatcher = cluster(1)
    bad = Dataset.range(3).map(lambda x: tf.debugging.check_numerics(1 / (tf.cast(x, tf.float32) - 1), "here"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="here : Tensor had Inf"):
        list(bad.apply(service.distribute("parallel_epochs", dispatcher.target)))
    with pytest.raises(NotImplementedError, match="only servers of this process"):
        service.register_dataset("grpc://localhost:1", bad)
    with pytest.raises(NotImplementedError, match="ShardingPolicy.HINT"):
        bad.apply(service.distribute(service.ShardingPolicy.HINT, dispatcher.target))


def test_data_cut_by_an_op():
    dataset, spec = Dataset.range(7), tf.TensorSpec([], tf.int64)

    def cut(workers, index, policy):
        arguments = dict(num_workers=workers, index=index, auto_shard_policy=policy, num_replicas=0)
        types = dict(output_types=[tf.int64], output_shapes=[[]])
        variant = tf.raw_ops.AutoShardDataset(
            input_dataset=tf.data.experimental.to_variant(dataset), **arguments, **types
        )
        return [int(x) for x in tf.data.experimental.from_variant(variant, spec)]

    policies = tf.data.experimental.AutoShardPolicy
    assert cut(3, 1, policies.DATA) == cut(3, 1, policies.AUTO) == [1, 4]
    assert cut(3, 1, policies.OFF) == cut(1, 0, policies.AUTO) == list(range(7))
    with pytest.raises(tf.errors.UnimplementedError, match="cannot cut among files"):
        cut(2, 0, policies.FILE)
    dataset = tf.data.TextLineDataset("nothing").map(lambda line: tf.constant(1, tf.int64))
    with pytest.raises(tf.errors.UnimplementedError, match="cannot cut among files"):
        cut(2, 0, policies.AUTO)


def test_ragged_elements(cluster):
    dispatcher = cluster(1)
    rows = Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]]))
    got = rows.apply(service.distribute("parallel_epochs", dispatcher.target))
    assert got.element_spec == rows.element_spec and [r.numpy().tolist() for r in got] == [[1], [2, 3]]


def test_distributed_save(cluster, tmp_path):
    dispatcher = cluster(1, work_dir=str(tmp_path / "work"), fault_tolerant_mode=True)
    path = str(tmp_path / "saved")
    tf.data.experimental.distributed_save(Dataset.range(5), path, dispatcher._address)
    assert sorted(int(x) for x in Dataset.load(path, wait=True)) == [0, 1, 2, 3, 4]
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.data.experimental.distributed_save(Dataset.range(5), path, dispatcher._address)
    with pytest.raises(ValueError, match="User specified compression GZIP, but the actual compression is SNAPPY"):
        Dataset.load(path, compression="GZIP")
    bad = Dataset.range(3).map(lambda x: tf.debugging.check_numerics(1 / (tf.cast(x, tf.float32) - 1), "here"))
    tf.data.experimental.distributed_save(bad, str(tmp_path / "bad"), dispatcher._address)
    with pytest.raises(ValueError, match="The save job failed to write it"):
        Dataset.load(str(tmp_path / "bad"), wait=True)


def test_reads_a_distributed_snapshot_of_tensorflow():
    saved = pathlib.Path(__file__).parent / "data" / "datasets" / "distributed"
    assert sorted(int(x) for x in Dataset.load(str(saved))) == [0, 1, 2, 3, 4]
