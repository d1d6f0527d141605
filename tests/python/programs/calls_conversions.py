"""Single calls as TensorFlow's own tests have them: what converts, what repeats, ragged tensors of one part, and texts."""

import numpy as np
import tensorflow as tf
from calls import tell

v1 = tf.compat.v1


def run(call):
    """The static shape and the value in a graph."""
    with tf.Graph().as_default():
        made = call()
        with v1.Session() as session:
            return made.shape, session.run(made)


def from_sparse(indices, sizes):
    """Of a sparse tensor whose rank only one part tells; None: unknown."""
    with tf.Graph().as_default():
        parts = [v1.placeholder(tf.int64) if p is None else p for p in (indices, sizes)]
        return tf.RaggedTensor.from_sparse(tf.SparseTensor(parts[0], [0], parts[1])).dtype


tell(
    """
sp = tf.sparse.from_dense([[1, 0], [0, 2]])
rv = v1.ragged.constant_value([['ab', 'c'], ['de']])
v1.constant_initializer(tf.constant([1.,2.]))
v1.constant_initializer(tf.Variable([1.,2.]))
tf.constant_initializer(tf.constant([1.,2.]))
tf.constant_initializer(tf.Variable([1.,2.]))([2])
v1.ragged.constant_value([[b'a',b'b'],[]],dtype=bytes)
v1.ragged.constant_value([[b'a',b'b'],[]],dtype=np.int32)
v1.ragged.constant_value([[1,2],[]],dtype=tf.int32).dtype
v1.ragged.constant_value([[1,2],[]],dtype='int16').dtype
v1.ragged.constant_value([[1,2],[]],dtype=float)
v1.ragged.constant_value(b'a',dtype=bytes)
tf.strings.unicode_split([b"\xFE", b"hello", b"==\xFF=="],"UTF-8",errors='replace',replacement_char=0)
tf.strings.unicode_split([b"\xFE", b"hello", b"==\xFF=="],"UTF-8",errors='replace',replacement_char=65)
tf.strings.unicode_decode([b"\xFE", b"hello", b"==\xFF=="],"UTF-8",errors='replace',replacement_char=0)
tf.strings.unicode_transcode([b"\xFE"],"UTF-8","UTF-8",errors='replace',replacement_char=0)
tf.add_n(x for x in (1,2))
tf.add_n({'a':1,'b':2}.values())
run(lambda: tf.add_n(x for x in (1,2)))
run(lambda: tf.add_n({'a':1,'b':2}.values()))
tf.add_n([])
v1.sparse_split(3)
v1.sparse_split(num_split=3,axis=1)
v1.sparse_split(sp_input=sp)
v1.sparse_split(axis=1)
tf.sparse.split()
tf.sparse.split(sp,2)
v1.string_split(['ab c','d']).values
v1.string_split(['abc'],'').values
tf.reshape(tf.range(4),tf.TensorShape([2,2]))
tf.reshape(tf.range(4),[v1.Dimension(2),v1.Dimension(2)])
tf.reshape(tf.range(4),(v1.Dimension(2),2))
tf.constant(v1.Dimension(2))
tf.constant([v1.Dimension(2),3])
tf.ones([v1.Dimension(2)])
tf.convert_to_tensor(v1.Dimension(None))
run(lambda: tf.reshape(tf.range(4),[v1.Dimension(2),v1.Dimension(2)]))
tf.squeeze(tf.ragged.constant([[[1],[2]],[[3]]]),[1])
tf.squeeze(tf.ragged.constant([[[1],[2]],[[3]]]),[2])
tf.squeeze(tf.ragged.constant([[1,2],[3]]),[0])
tf.squeeze(tf.ragged.constant([[[1],[2]],[[3]]]),[0,2])
tf.squeeze(tf.ragged.constant([[[1],[2]],[[3,4]]]),[0,1])
tf.squeeze(tf.ragged.constant([[1,2],[3]]))
tf.RaggedTensor.from_tensor([1,2])
tf.RaggedTensor.from_tensor([[1,2]],lengths=[1],ragged_rank=2)
tf.RaggedTensor.from_tensor([[1,2]],ragged_rank=2)
tf.RaggedTensor.from_tensor([[1,2]],ragged_rank=2,padding=3)
tf.RaggedTensor.from_tensor([[1,2]],ragged_rank=0)
tf.RaggedTensor.from_tensor([[1,2]],lengths=[1],padding=3)
tf.RaggedTensor.from_tensor([[1,2]],padding=[3])
tf.ragged.segment_ids_to_row_splits([1,0])
tf.ragged.segment_ids_to_row_splits([0,2],num_segments=1)
tf.ragged.segment_ids_to_row_splits([0,-1])
tf.ragged.boolean_mask([[1,2]],[[True],[False]])
tf.ragged.boolean_mask([1,2],[True,False,True])
tf.ragged.boolean_mask(tf.ragged.constant([[1,2]]),[True,False])
tf.ragged.boolean_mask(tf.ragged.constant([[1,2]]),tf.ragged.constant([[True]]))
tf.where(tf.ragged.constant([[True]]),tf.ragged.constant([[1]]))
tf.where([True],x=3)
tf.repeat([1,2],[1,2],axis=3)
tf.repeat([1,2],[1,2],axis=-4)
run(lambda: tf.repeat(v1.placeholder_with_default([[1,2],[3,4]],None),v1.placeholder_with_default([1,2],None),axis=1))
run(lambda: tf.repeat(v1.placeholder_with_default([[1,2],[3,4]],None),2,axis=-1))
run(lambda: tf.repeat(v1.placeholder_with_default(3,None),2))
run(lambda: tf.repeat([1,2],v1.placeholder_with_default(2,None)))
run(lambda: tf.repeat(v1.placeholder_with_default([[1,2],[3,4]],[2,2]),v1.placeholder_with_default([2],[None]),axis=0))
tf.strings.format('{}',tf.ragged.constant([['a','b'],['c']]))
tf.strings.format('{}',tf.constant(['a','b']))
tf.ragged.stack([tf.constant([1])])
tf.stack([tf.ragged.constant([[1]])])
tf.concat([tf.ragged.constant([[1]])],0)
from_sparse([[0, 0]], None)
from_sparse(None, [4, 3])
from_sparse([[0, 0, 0]], [4, 3, 1])
from_sparse(None, None)
tf.strings.format('{}', tf.ragged.constant([["a'b", 'x'], ['c"d']]))
v1.batch_gather(tf.reshape(tf.range(12),[2,3,2]),[[2,0],[1,1]])
v1.batch_gather(tf.reshape(tf.range(12),[2,3,2]),[1,0])
v1.batch_gather([5,6,7],[1,0])
v1.batch_gather(tf.ragged.constant([[[1,2],[3]],[[4]]]),[[1],[0]])
tf.repeat(3,[2],axis=0)
tf.repeat(3,2,axis=0)
tf.repeat(3,2,axis=-1)
tf.repeat(3,2,axis=1)
tf.repeat(3,[1,2],axis=0)
tf.strings.unicode_decode(rv,'UTF-8')
tf.strings.unicode_split(rv,'UTF-8')
tf.strings.unicode_split_with_offsets(rv,'UTF-8')
tf.strings.bytes_split(rv)
tf.strings.split(rv,'b')
tf.strings.unicode_encode(v1.ragged.constant_value([[97,98],[99]]),'UTF-8')
tf.strings.ngrams(rv,1)
tf.strings.upper(rv)
tf.strings.to_hash_bucket_fast(rv,10)
tf.strings.join([rv,rv])
tf.strings.join([rv,'x'],separator='-')
tf.strings.unicode_split([b"\xFE", b"h"],"UTF-8",errors='replace',replacement_char=0)
tf.strings.ngrams([b'a',b'b'],2,pad_values=b'x')
tf.strings.ngrams([b'a',b'b'],2,pad_values=(b'x',b'y'))
tf.strings.ngrams([b'a',b'b'],2,pad_values='x')
tf.strings.ngrams([b'a',b'b'],2,pad_values=3)
""",
    globals(),
)
