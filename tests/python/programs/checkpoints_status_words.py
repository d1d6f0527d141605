# What the status of a restore says: checks and warnings, for objects of all kinds.
import atexit
import gc
import logging
import os
import re
import shutil
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
atexit.register(shutil.rmtree, folder)
log = logging.getLogger("tensorflow")
lines = []


class Keep(logging.Handler):
    def emit(self, record):
        lines.append(record.getMessage())


log.handlers = [Keep()]
log.propagate = False


def told(what):
    gc.collect()
    for line in lines:
        print(what, "warning:", line)
    lines.clear()


def check(what, status):
    for name in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"):
        try:
            getattr(status, name)()
            print(what, name, "passes")
        except AssertionError as e:
            print(what, name, re.sub(r"<(?:\w+\.)+(\w+) object at \w+>", r"<\1>", str(e)))


class Numbers(tf.Module):
    """Saves what the class says."""

    def __init__(self, names):
        super().__init__()
        self.names, self.values = names, {}

    def _serialize_to_tensors(self):
        return {n: tf.constant(float(i)) for i, n in enumerate(self.names)}

    def _restore_from_tensors(self, restored):
        self.values = {k: float(v) for k, v in restored.items()}

    def __repr__(self):
        return "<Numbers>"


class Pair(tf.Module):
    def __init__(self, same):
        super().__init__()
        self.a = tf.Variable([1.0], name="a")
        self.b = self.a if same else tf.Variable([2.0], name="b")


def write(name, **objects):
    return tf.train.Checkpoint(**objects).write(os.path.join(folder, name))


# Only data structures in common.
path = write("lists", x=[tf.Variable(1.0)])
check("list alone", tf.train.Checkpoint(x=[]).read(path).expect_partial())
check("nothing", tf.train.Checkpoint().read(path).expect_partial())
check("other", tf.train.Checkpoint(y=tf.Variable(3.0, name="y")).read(path).expect_partial())
check("no checkpoint", tf.train.Checkpoint(y=tf.Variable(3.0, name="y")).read(write("empty")).expect_partial())

# Objects that save themselves.
path = write("numbers", n=Numbers(["p", "q"]))
n = Numbers(["p", "q"])
check("numbers", tf.train.Checkpoint(n=n).read(path))
print(n.values)
status = tf.train.Checkpoint(n=tf.Module()).read(path)
check("without values", status)
del status
told("without values")

# One object in the file, two in the program.
path = write("pair", p=Pair(True))
two = Pair(False)
status = tf.train.Checkpoint(p=two).read(path)
told("two of one")
print(np.asarray(two.a), np.asarray(two.b))
check("two of one", status)
status.expect_partial()

# What is left when the status goes.
path = write("more", u=tf.Variable(1.0, name="u"), v=tf.Variable(2.0, name="v"), n=[tf.Variable(5.0, name="w")])
status = tf.train.Checkpoint(u=tf.Variable(0.0, name="u")).read(path)
del status
told("left")
tf.train.Checkpoint(u=tf.Variable(0.0, name="u")).read(path).expect_partial()
told("expected")
tf.train.Checkpoint().read(None)
for name in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"):
    try:
        getattr(tf.train.Checkpoint().read(None), name)()
    except AssertionError as e:
        print("none", name, str(e))

# Later objects.
path = write("later", m=Pair(True), k=tf.Variable(7.0))
root = tf.train.Checkpoint()
first, second = root.read(path), root.read(path)
root.m = Pair(False)
told("later")
print(np.asarray(root.m.a), np.asarray(root.m.b))
check("first", first)
check("second", second)
root.k = tf.Variable(0.0)
print(float(root.k))
check("first", first.expect_partial())
check("second", second.expect_partial())

# Two names of one object, for which two objects come later.
v = tf.Variable(3.0, name="v")
path = write("names", x=v, y=v)
root = tf.train.Checkpoint()
status = root.read(path)
root.x = tf.Variable(0.0, name="x")
told("x")
root.y = tf.Variable(1.0, name="y")
told("y")
print(float(root.x), float(root.y))
check("two", status.expect_partial())
