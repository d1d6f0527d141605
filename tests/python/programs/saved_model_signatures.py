"""Signatures: one, several, none, given names, structured outputs, dtypes and open shapes; export with keys."""
import os
import tempfile
import tensorflow as tf

root = tempfile.mkdtemp()


class CustomModule(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(1.0)

    @tf.function
    def __call__(self, x):
        print("Tracing with", x)
        return x * self.v

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def mutate(self, new_v):
        self.v.assign(new_v)


module = CustomModule()
path = os.path.join(root, "no_signatures")
module(tf.constant(0.0))
print("Saving model...")
tf.saved_model.save(module, path)
imported = tf.saved_model.load(path)
print(imported(tf.constant(3.0)).numpy())
imported.mutate(tf.constant(2.0))
print(imported(tf.constant(3.0)).numpy(), list(imported.signatures))
try:
    imported(tf.constant([3.0]))
except ValueError as e:
    print("ValueError", "Could not find matching concrete function" in str(e))

path = os.path.join(root, "one")
call = module.__call__.get_concrete_function(tf.TensorSpec(None, tf.float32))
tf.saved_model.save(module, path, signatures=call)
one = tf.saved_model.load(path)
print(list(one.signatures.keys()))
infer = one.signatures["serving_default"]
print(infer(tf.constant([1.0, 2.0])), infer.structured_outputs)


@tf.function(input_signature=[tf.TensorSpec([], tf.string)])
def parse_string(string_input):
    return tf.strings.upper(string_input)


path = os.path.join(root, "several")
tf.saved_model.save(module, path,
                    signatures={"serving_default": call, "array_input": module.__call__.get_concrete_function(
    tf.TensorSpec([None], tf.float32, name="arr")), "text": parse_string})
several = tf.saved_model.load(path)
print(sorted(several.signatures.keys()))
print(several.signatures["array_input"].structured_input_signature)
print(several.signatures["text"](string_input=tf.constant("abc")))
print(several.signatures["array_input"](arr=tf.constant([4.0])))


class WithOutputName(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([2], name="bias")])
    def __call__(self, x, b):
        return {"custom_output_name": x + b, "shape": tf.shape(x)}


path = os.path.join(root, "names")
m = WithOutputName()
tf.saved_model.save(m, path, signatures=m.__call__)
named = tf.saved_model.load(path).signatures["serving_default"]
print(sorted(named.structured_outputs.items()))
print(sorted(named(x=tf.ones([1, 2]), bias=tf.constant([1.0, 2.0])).items()))
try:
    named(x=tf.ones([1, 2]))
except Exception as e:
    print(type(e).__name__)
try:
    tf.saved_model.save(m, path, signatures={"f": tf.function(lambda x: x)})
except ValueError as e:
    print(type(e).__name__)
