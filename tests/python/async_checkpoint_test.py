"""Checkpoints that are written while the program continues."""

import os
import threading

import numpy as np
import pytest

import weft as tf

LATER = tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)
KEY = "v/.ATTRIBUTES/VARIABLE_VALUE"


def _later(*callbacks):
    return tf.train.CheckpointOptions(
        experimental_enable_async_checkpoint=True, experimental_write_callbacks=list(callbacks)
    )


def test_the_values_of_the_call_are_written(tmp_path):
    v = tf.Variable(tf.zeros([1000]))
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.save(str(tmp_path / "a"), options=LATER)
    v.assign(tf.ones([1000]))
    v.assign_add(tf.ones([1000]))
    checkpoint.sync()
    np.testing.assert_array_equal(tf.train.load_variable(path, KEY), np.zeros(1000))
    assert tf.train.latest_checkpoint(str(tmp_path)) == path == str(tmp_path / "a-1")


def test_the_program_goes_on_and_sync_waits(tmp_path):
    go, done = threading.Event(), []

    def callback(path):
        go.wait(10)
        done.append(path)

    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    path = checkpoint.write(str(tmp_path / "w"), options=_later(callback))
    assert not done
    go.set()
    checkpoint.sync()
    assert done == [path]


def test_an_error_is_told_by_sync_and_the_next_save_is_free(tmp_path):
    def broken(path):
        raise tf.errors.DataLossError(None, None, "no")

    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.save(str(tmp_path / "a"), options=_later(broken))
    with pytest.raises(tf.errors.DataLossError):
        checkpoint.sync()
    checkpoint.sync()
    checkpoint.save(str(tmp_path / "a"), options=_later(broken))
    with pytest.raises(tf.errors.DataLossError):
        checkpoint.save(str(tmp_path / "a"), options=LATER)
    path = checkpoint.save(str(tmp_path / "a"), options=LATER)
    checkpoint.sync()
    assert os.path.exists(path + ".index")


def test_restore_waits(tmp_path):
    v = tf.Variable([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.save(str(tmp_path / "a"), options=LATER)
    v.assign([0.0, 0.0])
    checkpoint.restore(path).assert_consumed()
    np.testing.assert_array_equal(v, [1.0, 2.0])


def test_a_manager_keeps_the_last(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    paths = [manager.save(options=LATER) for _ in range(4)]
    assert manager.latest_checkpoint == paths[-1] and manager.checkpoints == paths[2:]
    names = sorted(p.name for p in tmp_path.iterdir() if p.name.endswith(".index"))
    assert names == ["ckpt-3.index", "ckpt-4.index"]
    assert tf.train.latest_checkpoint(tmp_path) == paths[-1]


def test_not_in_a_function(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with pytest.raises(NotImplementedError, match="async checkpoint in graph mode"):
        tf.function(lambda: checkpoint.write(str(tmp_path / "a"), options=LATER))()
