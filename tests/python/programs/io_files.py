"""tf.io and gfile: read and write files, folders, globs, walk, copy, remove; graphs written to text."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()
path = os.path.join(folder, "x.txt")
tf.io.write_file(path, "line 1\nline 2\n")
print(tf.io.read_file(path), tf.io.gfile.exists(path), tf.io.gfile.isdir(folder), tf.io.gfile.stat(path).length)
tf.io.gfile.makedirs(os.path.join(folder, "sub", "deep"))
tf.io.gfile.copy(path, os.path.join(folder, "sub", "copy.txt"))
with tf.io.gfile.GFile(os.path.join(folder, "sub", "new.txt"), "w") as f:
    f.write("hello\n")
    f.write("world")
with tf.io.gfile.GFile(os.path.join(folder, "sub", "new.txt"), "r") as f:
    print(f.read(), f.size(), f.name.endswith("new.txt"))
with tf.io.gfile.GFile(path, "rb") as f:
    print(f.readline(), f.tell(), f.read(3), f.readlines())
    f.seek(0)
    print([line for line in f])
with tf.io.gfile.GFile(path, "a") as f:
    f.write("more")
print(tf.io.gfile.GFile(path).read())
print(sorted(tf.io.gfile.listdir(folder)),
      [os.path.relpath(p, folder) for p in sorted(tf.io.gfile.glob(os.path.join(folder, "*", "*.txt")))])
for root, dirs, files in tf.io.gfile.walk(folder):
    print(os.path.relpath(root, folder), sorted(dirs), sorted(files))
tf.io.gfile.rename(path, os.path.join(folder, "y.txt"))
print(tf.io.gfile.exists(path), tf.io.gfile.join("a", "b"))
tf.io.gfile.remove(os.path.join(folder, "y.txt"))
tf.io.gfile.rmtree(os.path.join(folder, "sub"))
print(tf.io.gfile.listdir(folder))
for bad in (lambda: tf.io.read_file(path), lambda: tf.io.gfile.GFile(path).read(), lambda: tf.io.gfile.remove(path),
            lambda: tf.io.gfile.listdir(path)):
    try:
        print(bad())
    except tf.errors.OpError as e:
        print(type(e).__name__, e.error_code)
g = tf.Graph()
with g.as_default():
    tf.constant(1.0, name="one")
tf.io.write_graph(g, folder, "g.pbtxt")
with open(os.path.join(folder, "g.pbtxt")) as f:
    print(f.read().splitlines()[:3])
tf.io.write_graph(g.as_graph_def(), folder, "g.pb", as_text=False)
print(sorted(os.listdir(folder)), tf.io.matching_files(os.path.join(folder, "*.pb")).shape)
tf.io.gfile.mkdir(os.path.join(folder, "one"))
print(tf.io.gfile.isdir(os.path.join(folder, "one")), tf.io.decode_compressed(b"plain"))
