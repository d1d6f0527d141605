"""tf.custom_gradient in all its forms: what it takes and gives, where it is used, what its gradient may use."""
import tensorflow as tf

v1 = tf.compat.v1


def t(name, f):
    try:
        print(name, f())
    except Exception as e:
        print(name, type(e).__name__, str(e).split("\n")[0][:150])


def plain(g):
    if isinstance(g, tf.IndexedSlices):
        return "slices", g.values.numpy().tolist(), g.indices.numpy().tolist()
    return None if g is None else g.to_list() if isinstance(g, tf.RaggedTensor) else g.numpy().tolist()


def n(g):
    return tf.nest.map_structure(plain, g)


def ask(f, *a, vs=()):
    out = []
    for wrap in (lambda f: f, tf.function):
        try:
            with tf.GradientTape() as tape:
                tape.watch(a)
                q = wrap(f)(*a)
            out.append(n(tape.gradient(q, [*a, *vs])))
        except Exception as e:
            out.append((type(e).__name__, str(e).split("\n")[0][:110]))
    return out


x, y, v = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.Variable([5.0, 6.0])
r = tf.ragged.constant([[1.0, 2.0], [3.0]])
cg=tf.custom_gradient
t("ragged", lambda: ask(cg(lambda x: (x*2., lambda dy: dy*3.)), r))
t("none", lambda: ask(cg(lambda x: (x*2., lambda dy: None)), x))
t("none2", lambda: ask(cg(lambda x,y: (x*y, lambda dy: (dy, None))), x, y))
t("list", lambda: ask(cg(lambda x,y: (x*y, lambda dy: [dy, dy*2.])), x, y))
t("dict out", lambda: ask(cg(lambda x: ({"a":x*2.,"b":x*3.}, lambda a,b: a*10.+b*100.)), x))
t("nested out", lambda: ask(cg(lambda x: ((x*2.,[x*3.]), lambda a,b: a*10.+b*100.)), x))
t("int arg", lambda: ask(cg(lambda x,k: (x*tf.cast(k,tf.float32), lambda dy: (dy*7., None))), x, tf.constant(2)))
t("py arg", lambda: ask(lambda x: cg(lambda x,k: (x*k, lambda dy: (dy*7., None)))(x, 2.), x))
t("int out", lambda: ask(cg(lambda x: ((x*2., tf.cast(x,tf.int32)), lambda a,b: a*5.)), x))
t("var arg", lambda: ask(lambda x: cg(lambda x,w: (x*w, lambda dy: (dy*7., dy*8.)))(x, v), x, vs=[v]))
t("var no kw", lambda: ask(cg(lambda x: (x*v, lambda dy: dy)), x, vs=[v]))
t("var kw", lambda: ask(cg(lambda x: (x*v, lambda dy, variables: (dy, [dy*9.]))), x, vs=[v]))
t("var **kw", lambda: ask(cg(lambda x: (x*v, lambda dy, **kw: (dy, [dy*9. for _ in kw["variables"]]))), x, vs=[v]))
t("var few", lambda: ask(cg(lambda x: (x*v, lambda dy, variables=None: (dy, []))), x, vs=[v]))
t("no var kw", lambda: ask(cg(lambda x: (x*2., lambda dy, variables=None: dy)), x))
t("wrong ret", lambda: ask(cg(lambda x: x*2.), x))
t("three", lambda: ask(cg(lambda x: (x, x, x)), x))
t("same", lambda: ask(cg(lambda x: (x, lambda dy: dy*4.)), x))
t("unused arg", lambda: ask(cg(lambda x,y: (x*2., lambda dy: (dy, dy*11.))), x, y))
class C:
    @tf.custom_gradient
    def m(self, x): return x*2., lambda dy: dy*13.
    @staticmethod
    @tf.custom_gradient
    def s(x): return x*2., lambda dy: dy*14.
t("method", lambda: ask(C().m, x))
t("static", lambda: ask(C.s, x))
t("name", lambda: C.s.__name__)
k=x*1.
@tf.function
def closure(x):
    z=tf.exp(x)   # used in the gradient only
    @tf.custom_gradient
    def f(x): return x*2., lambda dy: dy*z
    return f(x)
t("closure", lambda: ask(closure, x))
big=tf.random.stateless_normal([300],[1,2])
@tf.function
def bigc(x):
    @tf.custom_gradient
    def f(x): return x*2., lambda dy: dy*tf.reduce_sum(tf.ones_like(big))
    return f(x)
t("big", lambda: ask(bigc, x))
u=tf.Variable(17.)
@tf.function
def gradonly(x):
    @tf.custom_gradient
    def f(x): return x*2., lambda dy: dy*u
    return f(x)
t("grad only var", lambda: ask(gradonly, x))
u.assign(18.); t("grad only var", lambda: ask(gradonly, x))
@tf.function
def incond(x):
    z=tf.exp(x)
    def br():
        q=x*1.
        @tf.custom_gradient
        def f(q): return q*2., lambda dy: dy*3.
        return f(q)
    return tf.cond(x[0]>0, br, lambda: x)
t("in cond", lambda: ask(incond, x))
@tf.function
def inloop(x):
    for _ in tf.range(2):
        x=cg(lambda q: (q*2., lambda dy: dy*5.))(x)
    return x
t("in loop", lambda: ask(inloop, x))
@tf.function
def outer_of(x):
    y=x*3.
    @tf.function
    def inner(q):
        @tf.custom_gradient
        def f(q): return q*2., lambda dy: dy*y
        return f(q)
    return inner(x)
t("outer tensor", lambda: ask(outer_of, x))
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x); z=cg(lambda q: (q**2, lambda dy: dy*q*100.))(x)
t("jac", lambda: n(tape.jacobian(z,x)))
@tf.function
def jf(x):
    with tf.GradientTape() as tape:
        tape.watch(x); z=cg(lambda q: (q**2, lambda dy: dy*q*100.))(x)
    return tape.jacobian(z,x)
t("jac fn", lambda: n(jf(x)))
with tf.GradientTape() as tape:
    tape.watch(x); z=tf.function(cg(lambda q: (q**2, lambda dy: dy*q*100.)))(x)
t("jac of fn", lambda: n(tape.jacobian(z,x)))
t("vec", lambda: ask(lambda x: tf.vectorized_map(cg(lambda q: (q**2, lambda dy: dy*q*100.)), x), x))
t("map", lambda: ask(lambda x: tf.map_fn(cg(lambda q: (q**2, lambda dy: dy*q*100.)), x), x))
t("ds", lambda: [n(q) for q in tf.data.Dataset.from_tensors(x).map(cg(lambda q: (q**2, lambda dy: dy)))])
with tf.Graph().as_default():
    a=tf.constant([1.,2.]); b=cg(lambda q: (q**2, lambda dy: dy*q*100.))(a)
    g=tf.gradients(b,a); print(b.name, b.op.type, len(b.op.inputs))
    with v1.Session() as s: print(s.run(g))
t("stateful", lambda: ask(cg(lambda q: (q+tf.random.uniform([])*0., lambda dy: dy*2.)), x))
