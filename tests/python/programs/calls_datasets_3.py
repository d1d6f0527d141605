"""Datasets: their reprs, specs and errors, part 3."""

import tensorflow as tf
from calls import show

D = tf.data.Dataset
ds = D.range(5)
for x in ds.batch(2, drop_remainder=True):
    print(x)
show(
    lambda: list(
        ds.group_by_window(
            key_func=lambda x: x % 2, reduce_func=lambda k, w: w.batch(2), window_size=2
        ).as_numpy_iterator()
    )
)
show(lambda: ds.group_by_window(key_func=lambda x: x, reduce_func=lambda k, w: w))
show(lambda: ds.ignore_errors())
show(lambda: ds.sparse_batch(2, [3]))
show(lambda: ds.rebatch(3))
show(lambda: list(ds.batch(2).rebatch(3).as_numpy_iterator()))
show(lambda: ds.apply(tf.data.experimental.assert_cardinality(3)))
show(lambda: list(ds.apply(tf.data.experimental.assert_cardinality(3))))
show(lambda: ds.apply(tf.data.experimental.assert_cardinality(5)).cardinality())
show(lambda: tf.data.experimental.get_structure(ds))
show(lambda: tf.data.experimental.get_structure(3))
show(lambda: tf.data.DatasetSpec(tf.TensorSpec([], tf.int32)))
show(lambda: tf.data.DatasetSpec.from_value(ds))
show(lambda: tf.type_spec_from_value(ds))
it = iter(ds)
show(lambda: it)
show(lambda: it.element_spec)
show(lambda: it.get_next())
show(lambda: it.get_next_as_optional())
show(lambda: it.get_next_as_optional().get_value())
show(lambda: [next(it).numpy() for _ in range(2)])
show(lambda: next(it))
show(lambda: it.get_next())
show(lambda: it.get_next_as_optional())
show(lambda: it.get_next_as_optional().has_value())
show(lambda: it.get_next_as_optional().get_value())
show(lambda: iter(it) is it)
show(lambda: len(it))
show(lambda: tf.experimental.Optional.from_value(3))
show(lambda: tf.experimental.Optional.empty(tf.TensorSpec([])))
show(lambda: tf.experimental.Optional.from_value((1, "a")).element_spec)
show(lambda: tf.type_spec_from_value(tf.experimental.Optional.from_value(3)))
show(lambda: tf.data.Iterator)
show(lambda: tf.data.NumpyIterator)
it = ds.as_numpy_iterator()
show(lambda: it)
show(lambda: next(it))
show(lambda: it.element_spec if hasattr(it, "element_spec") else None)
show(lambda: list(ds.map(lambda x: tf.ragged.range(x)).as_numpy_iterator()))
show(lambda: list(D.range(2).map(lambda x: D.range(2)).as_numpy_iterator()))
show(lambda: D.from_tensors(tf.zeros([2, 3])).unbatch().element_spec)
show(lambda: D.range(3).batch(2).map(lambda x: tf.ensure_shape(x, [2])).element_spec)
