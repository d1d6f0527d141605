import tensorflow as tf
x = tf.ragged.constant([[1],[2,3],[4]])
print(x.shape, tf.gather(x,[0,1]).shape, x[0:2].shape)
ds = tf.data.Dataset.from_tensor_slices(x); print(ds.element_spec); print(ds.batch(2).element_spec)
ds2 = tf.data.Dataset.range(3).batch(2).map(lambda i: tf.gather(x,i)); print(ds2.element_spec)
@tf.function
def f(it):
    y=next(it); print(y.shape, type(y).__name__, y.values.shape); return y
print(f(iter(ds2)).shape); print(f(iter(ds.batch(2))).shape)
@tf.function
def g(y): print(y.shape, y.flat_values.shape, y.bounding_shape().shape, y.row_lengths().shape, y.nrows().shape); return tf.reduce_sum(y,1)
g(x); g(tf.ragged.constant([[[1,2]],[]], ragged_rank=1)); 
ds3=tf.data.Dataset.from_tensors(x).map(lambda y: y); print(ds3.element_spec)
ds4=tf.data.Dataset.from_tensor_slices((x,[1,2,3])).batch(2).map(lambda a,b:(a*2,b)).prefetch(1); print(ds4.element_spec)
for a,b in ds4: print(a,b); break
ds5=tf.data.Dataset.from_tensor_slices([1,2,3]).map(lambda i: tf.range(i)).ragged_batch(2); print(ds5.element_spec)
