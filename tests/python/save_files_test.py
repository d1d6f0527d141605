"""What saving writes, replaces, keeps and leaves: SavedModels, checkpoints, files; verification."""

import fcntl
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
import weft as tf


class Net(tf.Module):
    def __init__(self, value=1.0):
        self.v = tf.Variable(value)
        self.w = tf.Variable(tf.fill([1000], value))

    @tf.function(input_signature=[tf.TensorSpec([])])
    def add(self, x):
        return x + self.v


def names(folder):
    return sorted(os.path.relpath(os.path.join(w, n), folder) for w, ds, fs in os.walk(folder) for n in ds + fs)


MODEL = [
    "assets",
    "fingerprint.pb",
    "saved_model.pb",
    "variables",
    "variables/variables.data-00000-of-00001",
    "variables/variables.index",
]


def put(path, text=b"mine"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(text)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def test_saving_keeps_what_it_did_not_write(tmp_path):
    model = str(tmp_path / "m")
    mine = ["notes", "deep/er/data", "variables/readme", "assets/words", "keras_metadata.pb"]
    for name in mine:
        put(os.path.join(model, name), name.encode())
    for value in (1.0, 2.0, 3.0):
        tf.saved_model.save(Net(value), model)
        assert tf.saved_model.load(model).v.numpy() == value
        assert names(model) == sorted(MODEL + mine + ["deep", "deep/er"])
        assert all(read(os.path.join(model, n)) == n.encode() for n in mine)
    assert names(tmp_path)[0] == "m" and len(os.listdir(tmp_path)) == 1


def test_links_stay_links(tmp_path):
    os.mkdir(tmp_path / "real")
    os.symlink("real", tmp_path / "link")
    for value in (1.0, 2.0):
        tf.saved_model.save(Net(value), str(tmp_path / "link"))
    assert os.path.islink(tmp_path / "link")
    assert tf.saved_model.load(str(tmp_path / "real")).v.numpy() == 2.0
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling")
    with pytest.raises(tf.errors.NotFoundError):
        tf.saved_model.save(Net(), str(tmp_path / "dangling"))


def test_a_file_in_the_place_of_the_folder(tmp_path):
    put(str(tmp_path / "file"))
    with pytest.raises(tf.errors.FailedPreconditionError, match="file is not a directory"):
        tf.saved_model.save(Net(), str(tmp_path / "file"))
    assert read(tmp_path / "file") == b"mine"


AS_ANYONE = """
import os, sys
import weft as tf
class Net(tf.Module):
    def __init__(self, value):
        self.v = tf.Variable(value)
os.chdir(sys.argv[1])
tf.saved_model.save(Net(1.0), "warm")  # what is imported late may lie where only root may look
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for folder in ("closed", "open/inner"):
    try:
        tf.saved_model.save(Net(2.0), folder)
        print("saved", folder)
    except tf.errors.PermissionDeniedError as e:
        print("denied", folder, e.message if folder != "closed" else "")
"""


def test_folders_that_may_not_be_written_to(tmp_path):
    """A closed folder is refused and stays as it is; an open one is replaced though the one above is closed."""
    os.chmod(tmp_path, 0o755)
    for folder in ("closed", "open/inner"):
        tf.saved_model.save(Net(1.0), str(tmp_path / folder))
    for where, _, _ in os.walk(tmp_path / "open" / "inner"):
        os.chmod(where, 0o777)
    for folder in ("closed", "open"):
        os.chmod(tmp_path / folder, 0o555)
    try:
        done = subprocess.run([sys.executable, "-c", AS_ANYONE, str(tmp_path)], capture_output=True, text=True)
        assert done.stdout.split("\n")[:2] == ["denied closed ", "saved open/inner"], done.stdout + done.stderr
        assert tf.saved_model.load(str(tmp_path / "closed")).v.numpy() == 1.0
        assert tf.saved_model.load(str(tmp_path / "open" / "inner")).v.numpy() == 2.0
        assert [n for n in names(tmp_path) if "tempstate" in n] == []
    finally:
        for folder in ("closed", "open"):
            os.chmod(tmp_path / folder, 0o755)


def test_readers_find_whole_models(tmp_path):
    model, stop = str(tmp_path / "m"), threading.Event()
    tf.saved_model.save(Net(0.0), model)

    def write():
        value = 0.0
        while not stop.is_set():
            value += 1
            tf.saved_model.save(Net(value), model)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(20):
            m = tf.saved_model.load(model)
            assert np.all(m.w.numpy() == m.v.numpy())
    finally:
        stop.set()
        thread.join()


def save_to(kind, folder):
    prefix = os.path.join(folder, "x")
    if kind == "model":
        tf.saved_model.save(Net(), prefix)
    elif kind == "write":
        tf.train.Checkpoint(net=Net()).write(prefix)
    elif kind == "save":
        tf.train.Checkpoint(net=Net()).save(prefix)
    elif kind == "async":
        c = tf.train.Checkpoint(net=Net())
        c.write(prefix, options=tf.train.CheckpointOptions(enable_async=True))
        c.sync()
    elif kind == "parts":
        policy = tf.train.experimental.MaxShardSizePolicy(1000)
        tf.train.Checkpoint(net=Net()).write(
            prefix, options=tf.train.CheckpointOptions(experimental_sharding_callback=policy)
        )
    elif kind == "file":
        tf.io.write_file(prefix, "text")
    elif kind == "data":
        tf.data.Dataset.range(3).save(prefix)


LEFT = {
    "model": "x.tempstate17/new/saved_model.pb",
    "write": "x.index.tempstate17",
    "save": "x-9.data-00000-of-00001.tempstate17",
    "async": "x.data-00000-of-00001.tempstate17",
    "parts": "x.tempstate17/part-00000-of-00002.index",
    "file": "x.tempstate17",
    "data": "x/run.tempstate17/new/00000000.shard/00000000.snapshot",
}


@pytest.mark.parametrize("kind", LEFT)
def test_the_next_save_removes_what_the_dead_left_and_nothing_of_the_living(tmp_path, kind):
    folder = str(tmp_path)
    path = os.path.join(folder, LEFT[kind])
    put(path)
    top = path[: path.index("tempstate17") + len("tempstate17")]
    living = os.open(top, os.O_RDONLY)
    fcntl.flock(living, fcntl.LOCK_EX)
    save_to(kind, folder)
    assert os.path.exists(path)
    os.close(living)
    save_to(kind, folder)
    assert [n for n in names(folder) if "tempstate" in n] == []


@pytest.mark.parametrize("kind", ["write", "async", "parts", "file", "model"])
def test_modes_are_those_of_new_files(tmp_path, kind):
    before = os.umask(0o027)
    try:
        save_to(kind, str(tmp_path))
    finally:
        os.umask(before)
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert files and {stat.S_IMODE(p.stat().st_mode) for p in files} == {0o640}


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    put(str(tmp_path / "x"))
    os.chmod(tmp_path / "x", 0o600)
    save_to("file", str(tmp_path))
    assert read(tmp_path / "x") == b"text" and stat.S_IMODE(os.stat(tmp_path / "x").st_mode) == 0o600


def test_a_checkpoint_written_over_has_the_same_names(tmp_path):
    prefix = str(tmp_path / "x")
    policy = tf.train.experimental.MaxShardSizePolicy(1000)
    parts = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    found = set()
    for value in (1.0, 2.0, 3.0):
        tf.train.Checkpoint(net=Net(value)).write(prefix)
        tf.train.Checkpoint(net=Net(value)).write(prefix + "p", options=parts)
        for path in (prefix, prefix + "p"):
            net = Net(0.0)
            tf.train.Checkpoint(net=net).read(path).assert_consumed()
            assert net.v.numpy() == value and np.all(net.w.numpy() == value)
        found.add(tuple(names(tmp_path)))
    assert len(found) == 1 and {"x.index", "x.data-00000-of-00001", "xp.data-00004-of-00005"} <= set(*found)


def test_what_a_kill_between_two_names_leaves_is_read_and_removed(tmp_path):
    """Data under an index's names and others beside it: every state that writing over goes through."""
    prefix, x = str(tmp_path / "x"), tf.Variable(1.0)
    tf.train.Checkpoint(x=x).write(prefix)
    os.link(prefix + ".data-00000-of-00001", prefix + ".data-00000-of-00002")
    put(prefix + ".data-00001-of-00002", b"")
    tf.train.Checkpoint(x=tf.Variable(0.0)).read(prefix).assert_consumed()
    x.assign(2.0)
    tf.train.Checkpoint(x=x).write(prefix)
    assert names(tmp_path) == ["x.data-00000-of-00001", "x.index"]


@pytest.mark.parametrize("name", [b"../stolen", b"/etc/passwd", b"a/../../b", b".."])
def test_assets_outside_of_the_folder_are_refused(tmp_path, name):
    put(str(tmp_path / "words.txt"), b"a\nb\n")

    class Table(tf.Module):
        def __init__(self):
            self.asset = tf.saved_model.Asset(str(tmp_path / "words.txt"))

    model = str(tmp_path / "m")
    tf.saved_model.save(Table(), model)
    from weft.proto import SavedModel

    path = os.path.join(model, "saved_model.pb")
    message = SavedModel.FromString(read(path))
    message.meta_graphs[0].asset_file_def[0].filename = name.decode()
    put(path, message.SerializeToString())
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not lie inside"):
        tf.saved_model.load(model)


def test_verification(tmp_path):
    model = str(tmp_path / "m")
    tf.saved_model.save(Net(), model)
    verified = tf.saved_model.LoadOptions(verify=True)
    assert tf.saved_model.load(model, options=verified).v.numpy() == 1.0
    for name in MODEL[1:]:
        path = os.path.join(model, name)
        if os.path.isdir(path) or name == "fingerprint.pb":
            continue
        whole = read(path)
        for at in range(0, len(whole), max(1, len(whole) // 15)):
            put(path, whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            with pytest.raises(tf.errors.DataLossError):
                tf.saved_model.load(model, options=verified)
        put(path, whole)
    assert tf.saved_model.load(model, options=verified).v.numpy() == 1.0
    os.remove(os.path.join(model, "fingerprint.pb"))
    with pytest.raises(tf.errors.NotFoundError, match="no fingerprint.pb to verify"):
        tf.saved_model.load(model, options=verified)


def test_a_link_to_a_file_stays_a_link(tmp_path):
    os.mkdir(tmp_path / "elsewhere")
    put(str(tmp_path / "elsewhere" / "real"), b"old")
    os.symlink("elsewhere/real", tmp_path / "x")
    number = os.stat(tmp_path / "elsewhere" / "real").st_ino
    save_to("file", str(tmp_path))
    assert os.readlink(tmp_path / "x") == "elsewhere/real" and read(tmp_path / "elsewhere" / "real") == b"text"
    assert os.stat(tmp_path / "elsewhere" / "real").st_ino != number  # replaced, and not written in place
    os.symlink("elsewhere/none", tmp_path / "y")
    tf.io.write_file(str(tmp_path / "y"), "new")
    assert os.path.islink(tmp_path / "y") and read(tmp_path / "elsewhere" / "none") == b"new"


def test_readers_find_whole_checkpoints(tmp_path):
    prefix, stop = str(tmp_path / "x"), threading.Event()
    tf.train.Checkpoint(net=Net(0.0)).write(prefix)

    def write(start):
        value = start
        while not stop.is_set():
            value += 1
            tf.train.Checkpoint(net=Net(value)).write(prefix)

    threads = [threading.Thread(target=write, args=(k * 1e5,)) for k in range(2)]
    for t in threads:
        t.start()
    try:
        for _ in range(150):
            net = Net(-1.0)
            tf.train.Checkpoint(net=net).read(prefix).assert_consumed()
            assert np.all(net.w.numpy() == net.v.numpy())
    finally:
        stop.set()
        for t in threads:
            t.join()
    assert names(tmp_path) == ["x.data-00000-of-00001", "x.index"]
