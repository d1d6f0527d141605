import tensorflow as tf, numpy as np
import tensorflow.experimental.numpy as tnp
tnp.experimental_enable_numpy_behavior()
def show(l, f):
    try: r=f(); print(l, r.shape, r.dtype.name, np.asarray(r).tolist())
    except Exception as e: print(l, type(e).__name__, str(e).split('\n')[0][:150])
x = tnp.arange(24).reshape(2, 3, 4)
show(1, lambda: x[1, tnp.newaxis, 1:3, ...]); show(2, lambda: x[:, (True, False, True)]); show(3, lambda: x[1, (0, 0, 1), tnp.asarray([0, 1, 1])])
show(4, lambda: x[x>20]); show(5, lambda: x[:, [True,False,True]]); show(6, lambda: x[[0,1],[1,2]]); show(7, lambda: x[..., [0,2]]); show(8, lambda: x[tnp.asarray([[0],[1]]), :, [1,2]]); show(9, lambda: x[[0,1,0]]); show(10, lambda: x[:, np.array([0,2]), None]); show(11, lambda: x[-1, -1]); show(12, lambda: x[1:, ::2, ::-1]); show(13, lambda: x[5]); show(14, lambda: x[tf.constant([1,0])]); show(15, lambda: x[True]); show(16, lambda: x[np.array(1)]); show(17, lambda: x[[True,False]]); show(18, lambda: x[0,[True,False,True],1:3]); show(19, lambda: x[(0,1),(True,False,True)] ); show(20, lambda: x[[[0,1],[1,0]], [0,1]])
show(21, lambda: tf.constant([1,2]) + 1.5); show(22, lambda: tf.constant([1,2]).T); show(23, lambda: tf.ones([2,3]).reshape(3,2)); show(24, lambda: tf.constant([1,2]).astype(tf.float64)); show(25, lambda: x.ravel()[:3]); show(27, lambda: tf.constant(3).clip(0,2)); show(28, lambda: x.max() if hasattr(x,'max') else x); show(29, lambda: tnp.asarray(1)+np.float64(1)); show(30, lambda: tf.constant(1,tf.int8)+tf.constant(1,tf.int64)); show(32, lambda: x.size*tf.constant(1)); show(33, lambda: tf.constant([1.])/tf.constant([2])); show(34, lambda: tf.constant(5)//2.); show(35, lambda: tf.constant([1,2])@tf.constant([1.,2.])); show(36, lambda: tf.constant(2)**-1); show(37, lambda: tf.constant(True)+1); show(38, lambda: tf.constant([True])*2.5)
