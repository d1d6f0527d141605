"""A tf.data service in one process: a dispatcher, workers, ways to share a dataset among them."""
import tensorflow as tf

Dataset = tf.data.Dataset
service = tf.data.experimental.service

dispatcher = service.DispatchServer()
address = dispatcher.target.split("://")[1]
print(dispatcher.target.split(":")[0], dispatcher._num_workers())
worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))
print(dispatcher._num_workers(), service.WorkerConfig(dispatcher_address="localhost:1").worker_address)


def through(mode, dataset=Dataset.range(6), **options):
    return dataset.apply(service.distribute(mode, dispatcher.target, **options))


one = through("parallel_epochs")
print(one, one.cardinality().numpy())
print(list(one.as_numpy_iterator()), list(one.as_numpy_iterator()))

second = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))
print(dispatcher._num_workers())
print(sorted(through("parallel_epochs").as_numpy_iterator()))
print(sorted(through("distributed_epoch").as_numpy_iterator()))
print(sorted(through(service.ShardingPolicy.OFF).as_numpy_iterator()))
print(sorted(through(service.ShardingPolicy.DYNAMIC).map(lambda x: x * 10).as_numpy_iterator()))
rows = Dataset.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "y", "z"]})
print(sorted((r["a"], r["b"]) for r in through("distributed_epoch", rows).as_numpy_iterator()))

first, other = through("distributed_epoch", job_name="shared"), through("distributed_epoch", job_name="shared")
seen = [int(x) for x in first]
rest = [int(x) for x in other]
print(sorted(seen + rest))

number = service.register_dataset(dispatcher.target, Dataset.range(4), dataset_id="four")
print(number)
known = service.from_dataset_id("distributed_epoch", dispatcher.target, "four")
print(known.element_spec, sorted(known.as_numpy_iterator()))


@tf.function
def total(dataset):
    result = tf.constant(0, tf.int64)
    for x in dataset:
        result += x
    return result


print(total(through("distributed_epoch")).numpy())


def attempt(action):
    try:
        print(action())
    except Exception as e:
        print(type(e).__name__, str(e).split("}} ")[-1].split(" [Op:")[0])


attempt(lambda: through("some_mode"))
attempt(lambda: through(3))
attempt(lambda: through("parallel_epochs", job_name=3))
attempt(lambda: through("parallel_epochs", job_name=""))
attempt(lambda: through("parallel_epochs", num_consumers=1))
attempt(lambda: through("parallel_epochs", compression="ZIP"))
attempt(lambda: through("parallel_epochs", target_workers="x"))
attempt(lambda: Dataset.range(1).apply(service.distribute("parallel_epochs", 5)))
attempt(lambda: Dataset.range(1).apply(service.distribute("parallel_epochs", "")))
attempt(lambda: service.from_dataset_id("distributed_epoch", dispatcher.target, "five"))
attempt(lambda: service.CrossTrainerCache(None))
attempt(lambda: service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True)))
