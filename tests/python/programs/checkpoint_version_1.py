"""Checkpoints of version 1: written whole and in slices, read by the ops of both versions, and what fails."""
import os
import tempfile

import tensorflow as tf

raw = tf.raw_ops
folder = tempfile.mkdtemp()


def under(name):
    return os.path.join(folder, name)


def show(label, call):
    try:
        value = call()
        print(label, tf.reshape(value, [-1]).numpy().tolist() if hasattr(value, "numpy") else value)
    except (ValueError, tf.errors.OpError) as e:
        print(label, type(e).__name__, str(getattr(e, "message", e)).split("}} ")[-1].split(" [Op:")[0].split(".tempstate")[0].split("; ")[0].replace(folder, "F"))


def bytes_of(name):
    with open(under(name), "rb") as f:
        return f.read().hex()


def quantized(dtype, base):
    return raw.Bitcast(input=tf.constant([1, 100, 7], base), type=dtype)


values = {name: tf.cast(tf.constant([1, 0, 7]), tf.as_dtype(name)) for name in (
    "float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool", "complex64", "complex128")}
values["negative int8"] = tf.constant([-1, -128, 3], tf.int8)
values["negative int32"] = tf.constant([-1, 2 ** 31 - 1, -2 ** 31])
values["negative int64"] = tf.constant([-1, 2 ** 62, -2 ** 63], tf.int64)
values["string"] = tf.constant(["a", "bcd", "", "x" * 200])
values["scalar"] = tf.constant(2.5)
values["empty"] = tf.zeros([0, 3])
values["matrix"] = tf.reshape(tf.range(6.0), [2, 3])
for dtype, base in ((tf.qint8, tf.int8), (tf.quint8, tf.uint8), (tf.qint16, tf.int16), (tf.quint16, tf.uint16), (tf.qint32, tf.int32)):
    values[dtype.name] = quantized(dtype, base)
for name, value in values.items():
    show("Save " + name, lambda: raw.Save(filename=under(name), tensor_names=["n"], data=[value]))
    if os.path.exists(under(name)):
        print(bytes_of(name))
        show("Restore " + name, lambda: tf.as_string(raw.Restore(file_pattern=under(name), tensor_name="n", dt=value.dtype)) if not value.dtype.is_quantized
             else raw.Bitcast(input=raw.Restore(file_pattern=under(name), tensor_name="n", dt=value.dtype), type={1: tf.int8, 2: tf.int16, 4: tf.int32}[value.dtype.size]))

# Several tensors; slices.
raw.Save(filename=under("three"), tensor_names=["b", "a", "c"], data=[tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant(5), tf.zeros([0, 2])])
print(bytes_of("three"))
many = [f"name_{i:03}" for i in range(100)]
raw.Save(filename=under("many"), tensor_names=many, data=[tf.fill([20], float(i)) for i in range(100)])
print(len(bytes_of("many")), bytes_of("many")[-400:])
show("of many", lambda: raw.Restore(file_pattern=under("many"), tensor_name="name_042", dt=tf.float32)[19])
raw.SaveSlices(filename=under("slices"), tensor_names=["m", "m", "w"], shapes_and_slices=["4 2 0,2:-", "4 2 2,2:-", ""],
               data=[tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[5.0, 6.0], [7.0, 8.0]]), tf.constant([9, 10])])
print(bytes_of("slices"))
show("whole", lambda: raw.Restore(file_pattern=under("slices"), tensor_name="m", dt=tf.float32))
for spec in ("", "4 2 1,2:-", "4 2 -:1,1", "4 2 0,2:-", "5 2 1,2:-", "4 2 3,2:-", "4"):
    show("slice " + spec, lambda: raw.RestoreSlice(file_pattern=under("slices"), tensor_name="m", shape_and_slice=spec, dt=tf.float32))
show("RestoreV2", lambda: raw.RestoreV2(prefix=under("slices"), tensor_names=["m", "w"], shape_and_slices=["4 2 1,1:-", ""], dtypes=[tf.float32, tf.int32])[0])
reader = tf.train.load_checkpoint(under("slices"))
print(sorted(reader.get_variable_to_shape_map().items()), reader.get_tensor("w").tolist())
# In two files.
raw.SaveSlices(filename=under("part-0"), tensor_names=["m"], shapes_and_slices=["4 0,2"], data=[tf.constant([1.0, 2.0])])
raw.SaveSlices(filename=under("part-1"), tensor_names=["m"], shapes_and_slices=["4 2,2"], data=[tf.constant([3.0, 4.0])])
show("two files", lambda: raw.Restore(file_pattern=under("part-*"), tensor_name="m", dt=tf.float32))
show("one of two files", lambda: raw.RestoreSlice(file_pattern=under("part-1"), tensor_name="m", shape_and_slice="4 2,2", dt=tf.float32))

# What fails.
x = tf.constant([1.0, 2.0])
show("absent name", lambda: raw.Restore(file_pattern=under("slices"), tensor_name="zz", dt=tf.float32))
show("other type", lambda: raw.Restore(file_pattern=under("slices"), tensor_name="m", dt=tf.int32))
show("absent file", lambda: raw.Restore(file_pattern=under("none"), tensor_name="m", dt=tf.float32))
show("two names of files", lambda: raw.Save(filename=[under("e"), under("f")], tensor_names=["n"], data=[x]))
show("too many names", lambda: raw.Save(filename=under("e"), tensor_names=["n", "m"], data=[x]))
show("other shape", lambda: raw.Save(filename=under("e"), tensor_names=["n", "n"], data=[x, tf.constant([1.0])]))
show("other type", lambda: raw.Save(filename=under("e"), tensor_names=["n", "n"], data=[x, tf.constant([1, 2])]))
show("no folder", lambda: raw.Save(filename=under("no/such/e"), tensor_names=["n"], data=[x]))
show("specs", lambda: raw.SaveSlices(filename=under("e"), tensor_names=["n"], shapes_and_slices=["a", "b"], data=[x]))
show("spec", lambda: raw.SaveSlices(filename=under("e"), tensor_names=["n"], shapes_and_slices=["bad"], data=[x]))
show("spec", lambda: raw.SaveSlices(filename=under("e"), tensor_names=["n"], shapes_and_slices=["4 0,3"], data=[x]))
show("resource", lambda: raw.Save(filename=under("e"), tensor_names=["n"], data=[raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name="v")]))
print(os.path.exists(under("e")))
