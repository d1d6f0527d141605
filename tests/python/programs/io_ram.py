"""Files in memory (ram://) through gfile, ops, records, datasets, tables, summaries, checkpoints and SavedModels."""
import tensorflow as tf

g = tf.io.gfile


def show(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e).split("}}")[-1].strip())


def write(path, text, mode="w"):
    with g.GFile(path, mode) as f:
        f.write(text)


print("ram" in g.get_registered_schemes(), g.exists("ram://a"), g.exists("ram://"))
show(lambda: g.GFile("ram://x").read())
write("ram://d/e/f.txt", "hello")
print(g.exists("ram://d"), g.exists("ram://d/e"), g.isdir("ram://d"), g.listdir("ram://d"), g.listdir("ram://d/e"))
print(g.glob("ram://d/*"), g.glob("ram://d/e/*"), g.glob("ram://d/*/*.txt"))
found = g.stat("ram://d/e/f.txt")
print(found.length, found.mtime_nsec, found.is_directory)
write("ram://d/e/f.txt", " you", "a")
print(g.GFile("ram://d/e/f.txt").read())
write("ram://d/e/f.txt", "more")  # what is there stays
print(g.GFile("ram://d/e/f.txt", "rb").read())
g.mkdir("ram://m")
g.mkdir("ram://m")
print(g.isdir("ram://m"), g.listdir("ram://m"))
g.makedirs("ram://q/r/s")
print(g.listdir("ram://q"), g.isdir("ram://q/r"))
show(lambda: g.GFile("ram://m").read())
show(lambda: write("ram://m", "x"))
show(lambda: g.remove("ram://m"))
show(lambda: g.remove("ram://nope"))
g.rmtree("ram://q")
print(g.exists("ram://q/r"), g.exists("ram://q"))
g.rename("ram://d/e/f.txt", "ram://d/g")
print(g.listdir("ram://d"), g.exists("ram://d/e/f.txt"))
show(lambda: g.rename("ram://nope", "ram://z"))
g.copy("ram://d/g", "ram://d/h")
show(lambda: g.copy("ram://d/g", "ram://d/h"))
show(lambda: g.rename("ram://d/g", "/no/such/never"))
show(lambda: g.stat("ram://nope"))
show(lambda: g.listdir("ram://nope"))
show(lambda: g.rmtree("ram://nope"))
show(lambda: list(g.walk("ram://nope")))
show(lambda: g.exists("nofs://x"))
show(lambda: g.GFile("nofs://x").read())
show(lambda: g.glob("nofs://x/*"))
with g.GFile("ram://lines", "w") as f:
    f.write("one\ntwo\nthree")
    show(f.tell)
with g.GFile("ram://lines") as f:
    print(f.readline(), f.tell(), f.readlines(), f.size())
    f.seek(4)
    print(f.read(3))
    show(lambda: f.seek(100))
    show(lambda: f.seek(-1))
show(lambda: g.GFile("ram://lines", "w").read())
show(lambda: g.GFile("ram://lines").write("x"))

tf.io.write_file("ram://w/x/y", "1")
print(tf.io.read_file("ram://w/x/y"), tf.io.matching_files("ram://w/*/*"), g.listdir("ram://w/x"))
show(lambda: tf.io.read_file("ram://w/none"))

for kind in ("", "GZIP", "ZLIB"):
    with tf.io.TFRecordWriter(f"ram://rec{kind}", kind) as w:
        w.write(b"abc")
        w.write(b"d" * 300)
    print([len(r) for r in tf.data.TFRecordDataset(f"ram://rec{kind}", kind).as_numpy_iterator()])
print(list(tf.data.TextLineDataset("ram://lines").as_numpy_iterator()))
write("ram://fixed", "aabbcc")
print(list(tf.data.FixedLengthRecordDataset("ram://fixed", 2).as_numpy_iterator()))
write("ram://t.csv", "a,b\n1,2.5\n3,4.5\n")
print([tuple(float(x) for x in row) for row in tf.data.experimental.CsvDataset("ram://t.csv", [tf.int32, tf.float32], header=True)])
print(sorted(x.numpy() for x in tf.data.Dataset.list_files("ram://w/x/*")))

write("ram://vocab", "cat\ndog\n")
table = tf.lookup.StaticVocabularyTable(
    tf.lookup.TextFileInitializer(
        "ram://vocab", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    ),
    1,
)
print(table.lookup(tf.constant(["dog", "cow", "cat"])).numpy())

cached = tf.data.Dataset.range(4).cache("ram://cache/c")
print(list(cached.as_numpy_iterator()), list(cached.as_numpy_iterator()), sorted(g.listdir("ram://cache")))

with tf.summary.create_file_writer("ram://logs").as_default():
    tf.summary.write("loss", 0.5, step=1)
print(len(g.listdir("ram://logs")), "tfevents" in g.listdir("ram://logs")[0])

v = tf.Variable([3.0, 4.0])
c = tf.train.Checkpoint(v=v)
print(c.write("ram://ck/a/one"), c.save("ram://ck/b/one"), g.listdir("ram://ck/b"), tf.train.latest_checkpoint("ram://ck/b"))
print(g.GFile("ram://ck/b/checkpoint").read())
v.assign([0.0, 0.0])
c.restore(tf.train.latest_checkpoint("ram://ck/b")).assert_consumed()
print(v.numpy())
show(lambda: tf.train.list_variables("ram://ck/a/one"))  # by its rules a folder
manager = tf.train.CheckpointManager(c, "ram://mgr", max_to_keep=2)
print([manager.save() for _ in range(4)], g.listdir("ram://mgr"), manager.latest_checkpoint)


class Model(tf.Module):
    def __init__(self):
        self.v = tf.Variable(2.0)
        self.asset = tf.saved_model.Asset("ram://vocab")

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="x")])
    def double(self, x):
        return self.v * x


tf.saved_model.save(Model(), "ram://sm/x")
print(g.listdir("ram://sm/x"), g.listdir("ram://sm/x/assets"), tf.saved_model.contains_saved_model("ram://sm/x"))
loaded = tf.saved_model.load("ram://sm/x")
print(loaded.double(4.0).numpy(), loaded.asset.asset_path.numpy(), tf.io.read_file(loaded.asset.asset_path).numpy())
g.rmtree("ram://sm")
print(g.exists("ram://sm/x/saved_model.pb"))
