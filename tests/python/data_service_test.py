"""tf.data service with all servers in this process: parts, jobs that are shared or left, errors, snapshots that workers write. Over processes: tests/cluster."""

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
        # A snapshot's task comes in the answer of a heartbeat.
        servers.extend(
            service.WorkerServer(service.WorkerConfig(address, heartbeat_interval_ms=50)) for _ in range(workers)
        )
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
    with pytest.raises(tf.errors.NotFoundError, match="No credentials factory has been registered for protocol smoke"):
        service.register_dataset("smoke://localhost:1", bad)
    with pytest.raises(NotImplementedError, match="data_transfer_protocol='smoke'"):
        service.WorkerServer(service.WorkerConfig(dispatcher._address, data_transfer_protocol="smoke"))


def test_data_cut_by_an_op(tmp_path):
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
    with pytest.raises(tf.errors.NotFoundError, match="Found an unshardable source dataset"):
        cut(2, 0, policies.FILE)
    dataset = tf.data.Dataset.range(7).shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT)
    assert cut(3, 1, policies.HINT) == [1, 4]
    for i in range(4):
        (tmp_path / f"{i}.txt").write_text(f"{i}\n{i + 10}\n")
    names = [str(tmp_path / f"{i}.txt") for i in range(4)]
    dataset = tf.data.TextLineDataset(names).map(lambda line: tf.strings.to_number(line, tf.int64))
    assert cut(2, 1, policies.FILE) == cut(2, 1, policies.AUTO) == [1, 11, 3, 13]
    dataset = tf.data.TextLineDataset(names[:1]).map(lambda line: tf.strings.to_number(line, tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not enough for the required 2 shards/workers"):
        cut(2, 0, policies.AUTO)


def test_random_orders_caches_and_resources_travel(cluster):
    dispatcher = cluster(2)
    through = service.distribute("distributed_epoch", dispatcher.target)
    assert sorted(int(x) for x in Dataset.range(20).cache().shuffle(7).repeat(2).apply(through)) == sorted(
        [*range(20)] * 2
    )
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.string, "?")
    table.insert(tf.constant([1, 2], tf.int64), ["a", "b"])
    assert sorted(x.numpy() for x in Dataset.range(4).map(table.lookup).apply(through)) == [b"?", b"?", b"a", b"b"]


def test_generators_have_one_split(cluster):
    dispatcher = cluster(2)
    made = Dataset.from_generator(lambda: iter(range(6)), output_signature=tf.TensorSpec([], tf.int64))
    assert sorted(int(x) for x in made.apply(service.distribute("distributed_epoch", dispatcher.target))) == list(
        range(6)
    )


def test_local_workers_and_tasks(cluster):
    dispatcher = cluster(1)
    local = Dataset.range(5).apply(service.distribute("parallel_epochs", dispatcher.target, target_workers="LOCAL"))
    assert [int(x) for x in local] == list(range(5))
    assert dispatcher._num_workers() == 1
    with pytest.raises(ValueError, match="multiple '://'"):
        service.register_dataset("grpc://localhost://1", Dataset.range(1))


def test_a_dispatcher_forgets_a_client_that_is_gone(cluster, tmp_path):
    config = dict(job_gc_check_interval_ms=20, job_gc_timeout_ms=20)
    dispatcher = cluster(0, **config)
    worker = service.WorkerServer(service.WorkerConfig(dispatcher._address, heartbeat_interval_ms=20))
    walk = iter(Dataset.range(10).repeat().apply(service.distribute("parallel_epochs", dispatcher.target)))
    assert int(next(walk)) == 0 and worker._num_tasks() == 1
    del walk
    for _ in range(500):
        if worker._num_tasks() == 0:
            break
        time.sleep(0.02)
    assert worker._num_tasks() == 0
    worker.stop()


def test_ragged_and_sparse_elements(cluster):
    dispatcher = cluster(1)
    rows = Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]]))
    got = rows.apply(service.distribute("parallel_epochs", dispatcher.target))
    assert got.element_spec == rows.element_spec and [r.numpy().tolist() for r in got] == [[1], [2, 3]]
    sparse = Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]]))
    got = sparse.apply(service.distribute("parallel_epochs", dispatcher.target))
    assert [tf.sparse.to_dense(r).numpy().tolist() for r in got] == [[1, 0], [0, 2]]


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
