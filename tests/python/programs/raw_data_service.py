"""The data service by its ops' own names: arguments that do not fit, and a dispatcher that is not there."""
import tensorflow as tf

raw = tf.raw_ops


def num(v):
    return tf.constant(v, tf.int64)


def failing(label, call):
    try:
        print(label, call())
    except (ValueError, TypeError, tf.errors.OpError) as e:
        print(label, type(e).__name__, str(getattr(e, "message", e)).split("\n")[0].split("}} ")[-1].split(" [Op:")[0][:200])


def make(version, **changes):
    counter = raw.DummyIterationCounter()
    arguments = {"dataset_id": num(1000) if version < 4 else "1000", "processing_mode": b"\x08\x01", "address": "localhost:1", "protocol": "grpc", "job_name": "",
                 "max_outstanding_requests": num(-1), "iteration_counter": counter, "output_types": [tf.int64], "output_shapes": [[]]}
    if version > 1:
        arguments.update(consumer_index=num(-1), num_consumers=num(-1))
    if version > 2:
        same = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.int64)]).get_concrete_function()
        arguments.update(uncompress_fn=same)
    arguments.update(changes)
    op = getattr(raw, "DataServiceDataset" + ("" if version == 1 else f"V{version}"))
    return op(**arguments)


# (With arguments that are right TensorFlow waits for the dispatcher, for hours.)
for version in (1, 2, 3, 4):
    label = f"V{version}"
    failing(label + " address", lambda: make(version, address=""))
    failing(label + " protocol", lambda: make(version, protocol=""))
    failing(label + " other protocol", lambda: make(version, protocol="smoke"))
    failing(label + " address vector", lambda: make(version, address=["a", "b"]))
    failing(label + " job vector", lambda: make(version, job_name=["a", "b"]))
    failing(label + " mode vector", lambda: make(version, processing_mode=["a", "b"]))
    failing(label + " protocol vector", lambda: make(version, protocol=["a", "b"]))
    failing(label + " id vector", lambda: make(version, dataset_id=["a", "b"] if version == 4 else num([1, 2])))
    failing(label + " workers", lambda: make(version, target_workers="NOBODY"))
    failing(label + " types", lambda: make(version, output_types=[]))
    failing(label + " workers and address", lambda: make(version, target_workers="NOBODY", address=""))
    failing(label + " protocol and job", lambda: make(version, protocol="smoke", job_name=["a", "b"]))
failing("register with another protocol", lambda: raw.RegisterDatasetV2(
    dataset=raw.RangeDataset(start=num(0), stop=num(3), step=num(1), output_types=[tf.int64], output_shapes=[[]]), address="localhost:1", protocol="smoke", external_state_policy=0))
