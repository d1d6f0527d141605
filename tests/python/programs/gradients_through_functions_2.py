import tensorflow as tf, numpy as np
def show(label, f):
    try:
        r = f()
        def t(v):
            if v is None: return None
            if isinstance(v, tf.IndexedSlices): return ('IS', v.values.numpy().tolist(), v.indices.numpy().tolist())
            if isinstance(v, (tf.Tensor, tf.Variable)): return (v.dtype.name, tuple(v.shape), np.round(v.numpy().astype('float64') if v.dtype.is_floating or v.dtype.is_integer else v.numpy(), 4).tolist())
            return str(v)
        print(label, tf.nest.map_structure(t, r))
    except Exception as e:
        print(label, type(e).__name__, str(e).split("\n")[0][:160])
x = tf.constant([1.,2.,3.]); v = tf.Variable([1.,2.,3.]); e = tf.Variable(tf.reshape(tf.range(8.),[4,2]))
def tape(f, s, persistent=False, **k):
    with tf.GradientTape(persistent=persistent) as t:
        t.watch(s)
        y = f(s)
    return t.gradient(y, s, **k)
show('int src', lambda: tape(lambda a: a*2, tf.constant([1,2])))
show('int tgt', lambda: tape(lambda a: tf.cast(a, tf.int32), x))
show('empty', lambda: tape(lambda a: [], x))
show('none', lambda: tape(lambda a: tf.constant(1.), x))
show('zero', lambda: tape(lambda a: tf.constant(1.), x, unconnected_gradients='zero'))
show('bad unconnected', lambda: tape(lambda a: a, x, unconnected_gradients='bad'))
show('dict', lambda: tape(lambda a: {'a': a['p']**2, 'b': a['q']}, {'p': x, 'q': x}))
show('gather', lambda: tape(lambda a: tf.gather(e, [0,2,0]), e))
show('gather fn', lambda: tape(tf.function(lambda a: tf.gather(a, [0,2,0])), e))
show('gather fn nested', lambda: tape(tf.function(lambda a: tf.function(lambda b: tf.gather(b,[1,1])*2.)(a)), e))
show('gather fn captured', lambda: tape(lambda a: tf.function(lambda: tf.gather(e,[1,1])*2.)(), e))
show('embedding', lambda: tape(lambda a: tf.nn.embedding_lookup(e,[1,3])**2, e))
show('emb dense use', lambda: tape(lambda a: tf.gather(e,[1])+tf.reduce_sum(e), e))
show('topk', lambda: tape(lambda a: tf.math.top_k(a,2).values, x))
show('topk fn', lambda: tape(tf.function(lambda a: tf.math.top_k(a,2).values), x))
show('topk idx', lambda: tape(lambda a: tf.cast(tf.math.top_k(a,2).indices,tf.float32), x))
show('topk idx fn', lambda: tape(tf.function(lambda a: tf.cast(tf.math.top_k(a,2).indices,tf.float32)), x))
def f2():
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        a, b = tf.function(lambda z: tuple(tf.math.top_k(z,2)))(x)
        s = tf.reduce_sum(a)
    return t.gradient(s, x), t.gradient(b, x), t.gradient(a, x)
show('jac v', lambda: (lambda t,y: t.jacobian(y, v))(*(lambda: (lambda t: (t.__enter__(), v*v*2., t.__exit__(None,None,None))[0:2])(tf.GradientTape()))()))
def jac():
    with tf.GradientTape(persistent=True) as t:
        y = v*v; z = tf.reduce_sum(y)
    return t.jacobian(y, v), t.jacobian(z, v), t.jacobian(y, [v, e]), t.jacobian(y, v, unconnected_gradients='zero')
show('jac', jac)
def bjac():
    with tf.GradientTape(persistent=True) as t:
        a = tf.ones([2,3]); t.watch(a); y = a**3
    return t.batch_jacobian(y, a), t.batch_jacobian(y,a,experimental_use_pfor=False)
show('bjac', bjac)
def bad_bjac():
    with tf.GradientTape(persistent=True) as t:
        a = tf.ones([3]); t.watch(a); y = a**3
    return t.batch_jacobian(y, a)
show('bad bjac', bad_bjac)
def twice():
    with tf.GradientTape() as t:
        t.watch(x); y = x*x
    t.gradient(y,x); return t.gradient(y,x)
show('twice', twice)
def reset():
    with tf.GradientTape() as t:
        t.watch(x); y = x*x; t.reset(); t.watch(x); z = x*3.
    return t.gradient(z,x)
show('reset', reset)
def stop():
    with tf.GradientTape() as t:
        t.watch(x); y = x*x
        with t.stop_recording(): z = y*y
    return t.gradient(z,x)
show('stop', stop)
def second():
    with tf.GradientTape() as t2:
        t2.watch(x)
        with tf.GradientTape() as t:
            t.watch(x); y = tf.sin(x)*x
        g = t.gradient(y,x)
    return t2.gradient(g,x)
show('second', second)
@tf.custom_gradient
def cg(a, b):
    def grad(dy, variables=None):
        return dy*b*10., dy*a*10.
    return a*b, grad
show('cg', lambda: tape(lambda s: cg(s[0], s[1]), [x, x+1.]))
@tf.custom_gradient
def cgv(a):
    def grad(dy, variables=None):
        return dy*7., [dy*3. for _ in variables]
    return a*v, grad
show('cgv', lambda: tape(cgv, x)); 
def cgv2():
    with tf.GradientTape() as t:
        y = cgv(x)
    return t.gradient(y, v)
show('cgv2', cgv2)
show('cgv fn', lambda: tape(tf.function(cgv), x))
@tf.custom_gradient
def rec(a):
    def grad(dy): return dy * rec(a)
    return tf.exp(a), grad
show('rec', lambda: tape(rec, x)); show('rec fn', lambda: tape(tf.function(rec), x))
show('out grads', lambda: (lambda t, y: t.gradient(y, x, output_gradients=tf.constant([1.,0.,2.])))(*(lambda t: (t.__enter__(), t.watch(x), x*x, t.__exit__(None,None,None))[0:3:2])(tf.GradientTape())))
show('string', lambda: tape(lambda a: tf.strings.as_string(a), x))
show('complex', lambda: tape(lambda a: tf.abs(tf.complex(a, a)), x))
show('where nan', lambda: tape(lambda a: tf.where(a>1.5, tf.sqrt(a-1.5), 0.), x))
show('cond', lambda: tape(lambda a: tf.cond(a[0]>0, lambda: a*2., lambda: a*3.), x))
show('while', lambda: tape(lambda a: tf.while_loop(lambda i, b: i<3, lambda i, b: (i+1, b*a), [0, a])[1], x))
show('while fn', lambda: tape(tf.function(lambda a: tf.while_loop(lambda i, b: i<3, lambda i, b: (i+1, b*a), [0, a])[1]), x))
show('map_fn', lambda: tape(lambda a: tf.map_fn(lambda q: q*q, a), x))
show('scan', lambda: tape(tf.function(lambda a: tf.scan(lambda p,q: p*q, a)), x))
show('assign', lambda: tape(lambda a: (v.assign(a*2.), v*a)[1], x))
def fa():
    acc = tf.autodiff.ForwardAccumulator(x, tf.ones_like(x))
    with acc: y = tf.sin(x)*x
    return acc.jvp(y)
show('fwd', fa)
show('sort', lambda: tape(lambda a: tf.sort(a, direction='DESCENDING')*a, x))
show('cumprod', lambda: tape(lambda a: tf.math.cumprod(a), x)); show('prod0', lambda: tape(tf.reduce_prod, tf.constant([0.,2.,3.])))
show('norm0', lambda: tape(tf.norm, tf.zeros([3]))); show('pow0', lambda: tape(lambda a: a**0., tf.zeros([2])))
show('seg', lambda: tape(lambda a: tf.math.segment_max(a,[0,0,1]), x)); show('max tie', lambda: tape(tf.reduce_max, tf.constant([1.,1.,0.])))
show('sparse', lambda: tape(lambda a: tf.sparse.sparse_dense_matmul(tf.sparse.from_dense([[1.,0.,2.]]), a[:,None]), x))
show('ragged', lambda: tape(lambda a: tf.reduce_sum(tf.RaggedTensor.from_row_splits(a,[0,2,3])**2,1), x))
show('var slices', lambda: tape(lambda a: tf.reduce_sum(v[1:]*2.), v))
show('py', lambda: tape(lambda a: tf.py_function(lambda z: z*z, [a], tf.float32), x)); show('np', lambda: tape(lambda a: tf.numpy_function(lambda z: z*z, [a], tf.float32), x))
show('gradients eager', lambda: tf.gradients(x, x))
show('checkpoint', lambda: tape(tf.recompute_grad(lambda a: tf.sin(a)*a), x))
show('stopg', lambda: tape(lambda a: tf.stop_gradient(a)*a, x)); show('prevent', lambda: tape(lambda a: tf.raw_ops.PreventGradient(input=a, message='no'), x))
show('const watch', lambda: (lambda t: t.watch('a'))(tf.GradientTape()))
show('fill', lambda: tape(lambda a: tf.fill([3], a[0]), x)); show('linsp', lambda: tape(lambda a: tf.linspace(a[0], a[1], 3), x)); show('range', lambda: tape(lambda a: tf.range(a[0], a[2]), x))
