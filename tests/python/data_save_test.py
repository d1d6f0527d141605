"""Datasets in files: what TensorFlow wrote (data/datasets) is read, what is damaged is DataLoss. The programs data_save_*
compare with TensorFlow, tests/interop has files go both ways."""

import os
import pathlib
import random
import shutil

import numpy as np
import pytest

import weft as tf

Dataset = tf.data.Dataset
WRITTEN = pathlib.Path(__file__).parent / "data" / "datasets"
ROWS = [(0, b"a", [0, 1]), (1, b"bb", [2, 3]), (2, b"", [4, 5]), (3, b"dddd", [6, 7])]


def rows(dataset):
    return [(r["n"], r["t"], r["x"].tolist()) for r in dataset.as_numpy_iterator()]


def numbers(dataset):
    return [int(v) for v in dataset]


def chunks(folder):
    return sorted(pathlib.Path(folder).rglob("*.snapshot"))


@pytest.mark.parametrize("compression", ["", "GZIP", "SNAPPY"])
def test_reads_what_tensorflow_wrote(compression):
    loaded = Dataset.load(WRITTEN / f"rows{compression}", compression=compression)
    assert loaded.element_spec["x"] == tf.TensorSpec([2], tf.float32) and len(loaded) == 4
    assert rows(loaded) == ROWS


def test_reads_shards_in_turns_or_as_the_reader_says():
    assert rows(Dataset.load(WRITTEN / "shards", reader_func=lambda shards: shards.flat_map(lambda x: x))) == [
        ROWS[0],
        ROWS[2],
        ROWS[1],
        ROWS[3],
    ]
    assert sorted(rows(Dataset.load(WRITTEN / "shards"))) == ROWS


def test_reads_composite_elements():
    assert [r.numpy().tolist() for r in Dataset.load(WRITTEN / "ragged")] == [[1, 2], [], [3]]
    assert [r.to_list() for r in Dataset.load(WRITTEN / "nested_ragged")] == [[[1, 2], []], [[3]]]
    assert [tf.sparse.to_dense(s).numpy().tolist() for s in Dataset.load(WRITTEN / "sparse")] == [
        [0, 1],
        [2, 0],
        [0, 0],
    ]


def test_reads_what_tensorflow_wrote_and_does_not_read():
    (large,) = Dataset.load(WRITTEN / "large", compression="SNAPPY")
    assert large.shape == (300, 300) and float(tf.reduce_min(large)) == float(tf.reduce_max(large)) == 1
    assert numbers(Dataset.load(WRITTEN / "chunks")) == [0, 1, 2, 3, 4]


def test_reads_a_snapshot_of_tensorflow_as_a_saved_dataset():
    (folder,) = (WRITTEN / "snapshot").iterdir()
    loaded = Dataset.load(folder, tf.TensorSpec([], tf.int64), "SNAPPY", lambda shards: shards.flat_map(lambda x: x))
    assert numbers(loaded) == [0, 2, 1, 3]


@pytest.mark.parametrize("compression", ["", "GZIP", "SNAPPY"])
def test_damage_is_data_loss(compression, tmp_path):
    chance = random.Random(5)
    source = WRITTEN / f"rows{compression}"
    for k in range(60):
        folder = tmp_path / str(k)
        shutil.copytree(source, folder)
        (chunk,) = chunks(folder)
        contents = bytearray(chunk.read_bytes())
        if k % 2:
            del contents[chance.randrange(1, len(contents)) :]
        else:
            contents[chance.randrange(len(contents))] ^= 1 << chance.randrange(8)
        chunk.write_bytes(contents)
        try:
            # A header of gzip has bytes without a meaning.
            assert rows(Dataset.load(folder, compression=compression)) == ROWS
        except tf.errors.DataLossError:
            continue
        assert compression == "GZIP" and k % 2 == 0


def test_damaged_metadata(tmp_path):
    shutil.copytree(WRITTEN / "rows", tmp_path / "a")
    metadata = tmp_path / "a" / "snapshot.metadata"
    contents = metadata.read_bytes()
    for damaged in (b"", contents[:20], b"\xff" * 40, contents + b"\x12\x03../"):
        metadata.write_bytes(damaged)
        with pytest.raises(tf.errors.OpError):
            rows(Dataset.load(tmp_path / "a"))
    (tmp_path / "a" / "dataset_spec.pb").write_bytes(b"\xff\xff")
    with pytest.raises(tf.errors.DataLossError):
        Dataset.load(tmp_path / "a")


def test_missing_files(tmp_path):
    shutil.copytree(WRITTEN / "rows", tmp_path / "a")
    (chunk,) = chunks(tmp_path / "a")
    chunk.unlink()
    with pytest.raises(tf.errors.NotFoundError):
        rows(Dataset.load(tmp_path / "a"))
    shutil.rmtree(chunk.parent.parent)
    with pytest.raises(tf.errors.DataLossError, match="has no elements"):
        rows(Dataset.load(tmp_path / "a"))


def test_a_save_that_fails_leaves_what_was_there(tmp_path):
    Dataset.range(3).save(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(9).map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x - 4, tf.float32), "")).save(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert numbers(Dataset.load(tmp_path)) == [0, 1, 2]


def test_a_large_element_is_cut_into_blocks(tmp_path):
    data = np.random.default_rng(1).integers(0, 50, [700, 300]).astype(np.int16)
    Dataset.from_tensors(data).repeat(3).save(tmp_path, compression="SNAPPY")
    (chunk,) = chunks(tmp_path)
    assert os.path.getsize(chunk) < 3 * data.nbytes
    assert all((e == data).all() for e in Dataset.load(tmp_path, compression="SNAPPY").as_numpy_iterator())


def test_save_with_checkpoints_goes_on_after_an_interruption(tmp_path):
    def arguments():
        return dict(
            directory=tmp_path / "checkpoints", max_to_keep=2, checkpoint_interval=2, step_counter=tf.Variable(0)
        )

    stop = tf.Variable(True)

    def halting(x):
        tf.debugging.assert_equal(tf.logical_and(stop, x == 4), False)
        return x

    numbers_ = Dataset.range(7).map(halting)
    with pytest.raises(tf.errors.InvalidArgumentError):
        numbers_.save(tmp_path / "saved", checkpoint_args=arguments())
    stop.assign(False)
    numbers_.save(tmp_path / "saved", checkpoint_args=arguments())
    assert numbers(Dataset.load(tmp_path / "saved")) == list(range(7))
    with pytest.raises(ValueError, match="not allowed to include 'checkpoint'"):
        numbers_.save(tmp_path / "saved", checkpoint_args=dict(arguments(), checkpoint=None))


def test_save_in_a_function(tmp_path):
    @tf.function
    def write(n):
        Dataset.range(n).save(str(tmp_path))

    write(tf.constant(4, tf.int64))
    assert numbers(Dataset.load(tmp_path)) == [0, 1, 2, 3]


def test_snapshots_are_found_by_how_they_are_made(tmp_path):
    def made(factor):
        return Dataset.range(4).map(lambda x: x * factor).snapshot(tmp_path)

    for _ in range(2):
        assert numbers(made(2)) == [0, 2, 4, 6] and numbers(made(3)) == [0, 3, 6, 9]
    assert len(list(tmp_path.iterdir())) == 2
    # Not complete: nothing is kept.
    assert numbers(made(5).take(2)) == [0, 5] and len(list(tmp_path.rglob("snapshot.metadata"))) == 2
    assert int(made(2).fingerprint()) == int(made(2).fingerprint()) != int(made(3).fingerprint())


def first_form(path, dataset, spec, **attributes):
    flat = [s.dtype for s in spec], [s.shape for s in spec]
    variant = tf.raw_ops.SnapshotDataset(
        input_dataset=tf.data.experimental.to_variant(dataset),
        path=str(path),
        output_types=flat[0],
        output_shapes=flat[1],
        **attributes,
    )
    return [tuple(p.numpy() for p in e) for e in tf.data.experimental.from_variant(variant, spec)]


@pytest.mark.parametrize("compression", ["", "GZIP", "SNAPPY"])
def test_the_first_form_of_snapshots(compression, tmp_path):
    spec = (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.string))
    other = Dataset.from_tensor_slices(([7], ["z"]))
    options = dict(compression=compression, snapshot_name="x" + compression)
    expected = [(0, b"a"), (1, b"bb"), (2, b"")]
    assert first_form(WRITTEN / "first", other, spec, **options) == expected
    # Written here, read here: in three files, since each is full at once.
    pairs = Dataset.from_tensor_slices((tf.range(3), ["a", "bb", ""]))
    options.update(shard_size_bytes=1)
    with pytest.raises(tf.errors.NotFoundError, match="Metadata file does not exist"):
        first_form(tmp_path, pairs, spec, mode="read", **options)
    assert first_form(tmp_path, pairs, spec, **options) == expected and len(chunks(tmp_path)) == 3
    assert first_form(tmp_path, other, spec, mode="passthrough", **options) == [(7, b"z")]
    assert first_form(tmp_path, other, spec, mode="read", **options) == expected
    contents = chunks(tmp_path)[1].read_bytes()
    for damaged in (contents[:-1], contents[:5], b"\xff" * 20):
        chunks(tmp_path)[1].write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError):
            first_form(tmp_path, other, spec, mode="read", **options)
    assert first_form(tmp_path, other, spec, mode="write", **options) == first_form(tmp_path, pairs, spec, **options)
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode must be either"):
        first_form(tmp_path, pairs, spec, mode="other")


def test_tf_record_files_by_snappy(tmp_path):
    name = str(tmp_path / "x.tfrecord")
    texts = Dataset.from_tensor_slices([b"a" * 1000, b"", b"xyz"])
    tf.data.experimental.TFRecordWriter(name, "SNAPPY").write(texts)
    assert list(tf.data.TFRecordDataset(name, "SNAPPY").as_numpy_iterator()) == [b"a" * 1000, b"", b"xyz"]
    assert os.path.getsize(name) < 300


def test_where_an_iterator_stands_is_saved_by_a_saver(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        iterator = v1.data.make_initializable_iterator(Dataset.range(5))
        following = iterator.get_next()
        saver = v1.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
        session.run(iterator.initializer)
        assert [session.run(following) for _ in range(2)] == [0, 1]
        path = saver.save(session, str(tmp_path / "x"))
        assert session.run(following) == 2
        saver.restore(session, path)
        assert session.run(following) == 2


def test_no_model_of_what_is_not_tuned():
    with pytest.raises(tf.errors.NotFoundError, match="analytical model"):
        tf.data.experimental.get_model_proto(iter(Dataset.range(2)))
