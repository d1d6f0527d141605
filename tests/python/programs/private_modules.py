import tensorflow as tf
from tensorflow.python.eager import backprop
from tensorflow.python.framework import ops
from tensorflow.python.checkpoint import checkpoint
v=tf.Variable(3.0); w=tf.Variable(2.0)
g=backprop.implicit_grad(lambda x: v*x*x+w)
print([(float(a),b.name) for a,b in g(tf.constant(2.0))])
print(backprop.implicit_val_and_grad(lambda x: v*x)(tf.constant(2.0))[0].numpy())
print(ops.convert_to_tensor_or_composite([1,2]), ops.convert_to_tensor_or_composite(tf.ragged.constant([[1]])))
m=tf.Module(); m.v=v; m.l=[w]
print([type(o).__name__ for o in checkpoint.list_objects(m)])
with tf.GradientTape() as t: pass
print(backprop.GradientTape is tf.GradientTape, checkpoint.Checkpoint is tf.train.Checkpoint)
