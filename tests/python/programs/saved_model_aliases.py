"""Names that SaveOptions(function_aliases=...) gives functions, and what a loaded model offers of them."""

import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()
LOAD = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)


def attempt(what, function):
    try:
        print(what, function())
    except Exception as error:  # noqa: BLE001
        print(what, type(error).__name__, str(error)[:120])


def aliases_of(path):
    """Which of these names are in the file."""
    with open(os.path.join(path, "saved_model.pb"), "rb") as f:
        data = f.read()
    return {name: name.encode() in data for name in ("double_it", "triple", "first", "unused")}


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(2.0)

    @tf.function
    def double(self, x):
        return x * 2

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def scaled(self, x):
        return x * self.v


model = Model()
model.double(tf.constant(1.0))
model.double(tf.constant([1.0, 2.0]))
model.scaled(tf.constant([1.0]))
path = os.path.join(folder, "a")
options = tf.saved_model.SaveOptions(function_aliases={"double_it": model.double, "triple": model.scaled})
tf.saved_model.save(model, path, options=options)
print(aliases_of(path))

plain = tf.saved_model.load(path)
print(hasattr(plain, "function_aliases"))
loaded = tf.saved_model.load(path, options=LOAD)
print(sorted(loaded.function_aliases))
for name in sorted(loaded.function_aliases):
    found = loaded.function_aliases[name]
    print(name, type(found).__name__, isinstance(found, list))
    print(found(tf.constant([1.0, 2.0])).numpy())
print(loaded.function_aliases["double_it"] is loaded.double, loaded.function_aliases["triple"] is loaded.scaled)
print(loaded.function_aliases["double_it"](tf.constant(4.0)).numpy())
loaded.v.assign(5.0)
print(loaded.function_aliases["triple"](tf.constant([1.0])).numpy())

# Saved once more, with the names as they were loaded.
again = os.path.join(folder, "b")
attributes = dict(loaded.function_aliases)
plain2 = tf.saved_model.load(path)
plain2_options = tf.saved_model.SaveOptions(function_aliases={"double_it": plain2.double})
tf.saved_model.save(plain2, again, options=plain2_options)
print(aliases_of(again))
twice = tf.saved_model.load(again, options=LOAD)
print(sorted(twice.function_aliases), twice.function_aliases["double_it"](tf.constant(3.0)).numpy())

# Single traces: they are saved anew with their function. Those that are attributes are there.
model = Model()
first = model.double.get_concrete_function(tf.TensorSpec([], tf.float32))
second = model.double.get_concrete_function(tf.TensorSpec([3], tf.float32))
path = os.path.join(folder, "c")
tf.saved_model.save(model, path, options=tf.saved_model.SaveOptions(function_aliases={"first": first}))
print(tf.saved_model.load(path, options=LOAD).function_aliases)
path = os.path.join(folder, "d")
tf.saved_model.save(model, path, options=tf.saved_model.SaveOptions(function_aliases={"first": [first, second]}))
print(tf.saved_model.load(path, options=LOAD).function_aliases)
model.kept = first
path = os.path.join(folder, "k")
tf.saved_model.save(model, path, options=tf.saved_model.SaveOptions(function_aliases={"first": [first, second]}))
loaded = tf.saved_model.load(path, options=LOAD)
for name, found in loaded.function_aliases.items():
    print(name, type(found).__name__, len(found), found[0](tf.constant(7.0)).numpy(), found[0] is loaded.kept)

# A function that the model does not hold is not there.
@tf.function
def outside(x):
    return x


outside(tf.constant(1.0))
path = os.path.join(folder, "e")
tf.saved_model.save(model, path, options=tf.saved_model.SaveOptions(function_aliases={"unused": outside}))
loaded = tf.saved_model.load(path, options=LOAD)
print(sorted(loaded.function_aliases))

# One without traces has no name to keep.
fresh = Model()
path = os.path.join(folder, "f")
tf.saved_model.save(fresh, path, options=tf.saved_model.SaveOptions(function_aliases={"unused": fresh.double}))
print(tf.saved_model.load(path, options=LOAD).function_aliases)

# Without any.
path = os.path.join(folder, "g")
tf.saved_model.save(fresh, path)
print(tf.saved_model.load(path, options=LOAD).function_aliases)

attempt("not a function", lambda: tf.saved_model.save(
    fresh, os.path.join(folder, "h"), options=tf.saved_model.SaveOptions(function_aliases={"x": lambda: 1})))
fresh.function_aliases = tf.Variable(1.0)
tf.saved_model.save(fresh, os.path.join(folder, "i"))
attempt("taken", lambda: tf.saved_model.load(os.path.join(folder, "i"), options=LOAD))

# Aliases of a signature's function.
fresh = Model()
signature = fresh.scaled.get_concrete_function()
path = os.path.join(folder, "j")
tf.saved_model.save(fresh, path, signatures=signature, options=tf.saved_model.SaveOptions(function_aliases={"s": signature}))
loaded = tf.saved_model.load(path, options=LOAD)
print({name: type(found).__name__ for name, found in loaded.function_aliases.items()}, sorted(loaded.signatures))
