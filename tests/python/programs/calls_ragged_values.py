"""Values that sessions give for ragged tensors, as arguments: their class, and where ops take version 1's rows."""

import numpy as np
import tensorflow as tf
from calls import tell

v1 = tf.compat.v1

tell(
    """
rv = v1.ragged.constant_value([[1, 2], [3]])
rm = v1.ragged.constant_value([[True, False], [True]])
rr = tf.ragged.constant([[1, 2], [3]])
r2 = tf.ragged.constant([[5], [6, 7, 8]])
rb = tf.ragged.constant([[True, False], [True]])
R = v1.ragged.RaggedTensorValue
a = R(R(np.array([[1], [2], [3]]), np.array([0, 1, 3])), np.array([0, 2]))
a.values
a.flat_values
a.nested_row_splits
a.ragged_rank
a.shape
a.dtype
tf.gather(rv,[1,0])
tf.gather(rv,v1.ragged.constant_value([[0],[1]]))
tf.gather_nd(rv,[[1,0]])
tf.where(rm)
tf.where(rm, rv, rv)
v1.where(rm, rv, rv)
tf.concat([rv,rv],axis=1)
tf.stack([rv,rv])
rv+1
tf.add(rv,rv)
tf.reduce_sum(rv,axis=1)
tf.abs(rv)
tf.size(rv)
tf.shape(rv)
tf.rank(rv)
tf.tile(rv,[1,2])
tf.expand_dims(rv,1)
tf.squeeze(tf.expand_dims(rv,1),1)
tf.one_hot(rv,3)
tf.ragged.boolean_mask(rv,rm)
tf.boolean_mask(rv,rm)
tf.cast(rv,tf.float32)
tf.gather(rv,v1.ragged.constant_value([[0],[1]]),batch_dims=1)
v1.batch_gather(rv,v1.ragged.constant_value([[0],[1]]))
tf.reverse(rv,[1])
tf.ones_like(rv)
tf.convert_to_tensor(rv)
tf.math.unsorted_segment_sum(rv,[0,0],1)
tf.dynamic_partition(rv,[0,1],2)
tf.strings.length(v1.ragged.constant_value([['a','bb'],['ccc']]))
tf.strings.reduce_join(v1.ragged.constant_value([['a','bb'],['ccc']]),axis=1)
tf.map_fn(lambda x: x,rv)
tf.argmax(rv,1)
tf.zeros_like(rv)
tf.ragged.stack([rv,rv])
tf.nn.relu(rv)
tf.ragged.cross([rv,rv])
tf.strings.format("{}",[rv])
tf.maximum(rv,2)
tf.less(rv,2)
tf.bitcast(rv,tf.int32)
tf.clip_by_value(rv,1,2)
tf.reshape(rv,[-1])
tf.unstack(rv)
tf.split(rv,2)
tf.nn.softmax(tf.cast(rv,tf.float32))
tf.nn.dropout(tf.cast(rv,tf.float32),0.0)
tf.ragged.map_flat_values(tf.add,rv,1)
tf.ragged.row_splits_to_segment_ids([0,2,3])
tf.nn.embedding_lookup([[1.],[2.],[3.],[4.]],rv)
v1.where(rb,rr,rr*2)
v1.where([True,False],rr,r2)
v1.where([True,False],rr,[[5],[6]])
v1.where(rb,rr,3)
v1.where(rb,rr)
v1.where(rb)
v1.where(True,rr,r2)
v1.where(rb,rr,r2)
v1.batch_gather(rr,tf.ragged.constant([[0],[0]]))
v1.batch_gather(rr,[[0],[0]])
v1.batch_gather([[1,2],[3,4]],tf.ragged.constant([[0,1],[0]]))
tf.strings.format("{} {}",(rv,[1,2]))
tf.type_spec_from_value(rv)
R([1,2,3],[0,1])
R(np.array([1,2,3]),[0,1])
R(np.array([1,2,3]),np.array([0.,1]))
R(np.array([1,2,3]),np.array([[0,1]]))
R(np.array([1,2,3]),np.array([0,1],np.int32))
R(R(np.array([1,2,3]),np.array([0,1],np.int32)),np.array([0,1],np.int64))
R(np.array([1,2,3]),np.array([0,3],np.int16))
a.to_list()); t(lambda: repr(a)); t(lambda: R
R(np.array(['a','b']),np.array([0,1,2])).to_list()
a[0]
v1.ragged.constant_value([]).shape
v1.ragged.constant_value([[]]).dtype
v1.ragged.constant_value([['a']]).dtype
tf.nest.flatten(a,expand_composites=True)
tf.type_spec_from_value(a)
a.shape[1]
a.ragged_rank
""",
    globals(),
)
