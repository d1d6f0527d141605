# Shapes that are known of vectors from outside of a loop, a branch or a mapped function.
import tensorflow as tf
@tf.function(input_signature=[tf.TensorSpec([None,1]),tf.TensorSpec([None,None]),tf.TensorSpec([],tf.int32)])
def f(a,b,n):
    sh=tf.shape(a)
    c1=tf.concat([sh,[3]],0)
    c2=tf.broadcast_dynamic_shape(sh,sh)
    c3=tf.stack([n,1])
    c4=tf.concat([[n],[1]],0)
    def show(w):
        print(w,[tf.zeros(q).shape for q in (sh,c1,c2,c3,c4)], tf.random.stateless_uniform(sh,[1,2]).shape, tf.random.stateless_uniform(c1,[1,2]).shape, tf.broadcast_to(a,sh).shape, tf.reshape(b,c3).shape, tf.zeros(tf.concat([sh,[2]],0)).shape,
        tf.zeros(tf.concat([c4[:1],[2]],0)).shape, tf.zeros([sh[1],sh[0]]).shape, tf.fill(c4,1.0).shape, tf.zeros(c1[1:]).shape)
        return 0
    show('out')
    def body(i,x):
        show('body'); return i+1,x
    tf.while_loop(lambda i,x: i<3, body, [0,tf.zeros(sh)])
    tf.cond(n>0, lambda: show('cond'), lambda: 0)
    def body2(i,x):
        tf.cond(n>0, lambda: show('cond in body'), lambda: 0); return i+1,x
    tf.while_loop(lambda i,x: i<3, body2, [0,tf.zeros(sh)])
    tf.map_fn(lambda x: show('map'), tf.zeros([3]), fn_output_signature=tf.int32)
    return 0
f.get_concrete_function()
