"""What is kept: variables, nested modules, lists, dicts, constants captured, assets, tables; what is not; options."""
import os
import tempfile
import tensorflow as tf

root = tempfile.mkdtemp()
vocabulary = os.path.join(root, "words.txt")
with open(vocabulary, "w") as f:
    f.write("alpha\nbeta\ngamma\n")


class Inner(tf.Module):
    def __init__(self, k):
        super().__init__()
        self.k = tf.Variable(k)


class Outer(tf.Module):
    def __init__(self):
        super().__init__()
        self.parts = [Inner(1.0), Inner(2.0)]
        self.by_name = {"x": Inner(3.0), "plain": tf.Variable(4.0)}
        self.pair = (Inner(5.0), Inner(6.0))
        self.python_number = 5
        self.words = tf.saved_model.Asset(vocabulary)
        self.table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER),
            -1)
        self.constant = tf.constant([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def lookup(self, words):
        return self.table.lookup(words)

    @tf.function(input_signature=[])
    def total(self):
        return sum(p.k for p in self.parts) + self.constant


path = os.path.join(root, "outer")
tf.saved_model.save(Outer(), path)
print(sorted(os.listdir(path)), os.listdir(os.path.join(path, "assets")))
os.remove(vocabulary)
loaded = tf.saved_model.load(path)
print(loaded.lookup(tf.constant(["beta", "delta", "gamma"])))
print(loaded.total())
print(loaded.parts[1].k.numpy(), loaded.by_name["x"].k.numpy(), loaded.by_name["plain"].numpy(),
      loaded.pair[1].k.numpy())
print(hasattr(loaded, "python_number"), os.path.basename(loaded.words.asset_path.numpy().decode()))
print(tf.io.read_file(loaded.words).numpy())
print(type(loaded.parts).__name__, type(loaded.by_name).__name__, type(loaded.pair).__name__)

m = tf.Module()
m.v = tf.Variable(1.0)
m.f = tf.function(lambda x: x + m.v)
tf.saved_model.save(m, os.path.join(root, "untraced"))
untraced = tf.saved_model.load(os.path.join(root, "untraced"))
try:
    untraced.f(tf.constant(1.0))
except ValueError as e:
    print(type(e).__name__, str(e).splitlines()[0])
options = tf.saved_model.SaveOptions(namespace_whitelist=[], save_debug_info=False, experimental_custom_gradients=False)
m.f(tf.constant(1.0))
tf.saved_model.save(m, os.path.join(root, "options"), options=options)
tagged = tf.saved_model.load(os.path.join(root, "options"), tags=["serve"])
print(tagged.f(tf.constant(1.0)).numpy())
print(tf.saved_model.load(os.path.join(root, "options"), options=tf.saved_model.LoadOptions()).v.numpy())
try:
    tf.saved_model.load(path, tags=["nothing"])
except Exception as e:
    print(type(e).__name__)
try:
    tf.saved_model.save(3, path)
except Exception as e:
    print(type(e).__name__, str(e).splitlines()[0])
print(tf.train.list_variables(os.path.join(path, "variables", "variables"))[:3])
