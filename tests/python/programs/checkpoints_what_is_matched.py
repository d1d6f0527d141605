import re
import tensorflow as tf
def said(e):
    """The message with its objects in order: TensorFlow lists them in the order of their addresses."""
    text = str(e).replace('\n', ' ')
    head, listed, objects = text.partition(' objects: ')
    return head + listed + ' '.join(sorted(re.findall(r"<[^>]*>", objects)))[:200] if listed else text[:330]
a=tf.Module(); a.v=tf.Variable(1.); w=tf.train.Checkpoint(a=a).write('ck/a')
def t(label, make):
    b=tf.Module(); b.v=tf.Variable(0.); make(b); st=tf.train.Checkpoint(a=b).restore(w)
    for f in ('assert_consumed','assert_existing_objects_matched'):
        try: print(label, f, bool(getattr(st,f)()))
        except AssertionError as e: print(label, f, said(e))
t('list', lambda b: setattr(b,'l',[tf.Variable(2.)]))
t('emptylist', lambda b: setattr(b,'l',[]))
t('module', lambda b: setattr(b,'m',tf.Module()))
t('nested', lambda b: (setattr(b,'m',tf.Module()), setattr(b.m,'x',tf.Module())))
t('listofmodule', lambda b: setattr(b,'m',[tf.Module()]))
t('dict', lambda b: setattr(b,'m',{'a':{'b':tf.Variable(1.)}}))
t('layer', lambda b: setattr(b,'m',tf.keras.layers.Dense(2)))
t('gen', lambda b: setattr(b,'m',tf.random.Generator.from_seed(1)))
st=tf.train.Checkpoint(z=tf.Module()).restore(w)
for f in ('assert_consumed','assert_existing_objects_matched','assert_nontrivial_match'):
    try: print(f, bool(getattr(st,f)()))
    except AssertionError as e: print(f, said(e))
a = tf.Module()
a.l = [1, 2, {"q": tf.Variable(2.0)}, "x", (tf.Variable(1.0), 3)]
a.d = {"k": 1, "v": tf.Variable(3.0), "n": {"m": [tf.Variable(4.0), None]}}
a.t, a.e, a.s = (1, tf.Variable(2.0)), [], "str"
tf.saved_model.save(a, "sm")
b = tf.saved_model.load("sm")
for n in "l d t e s".split():
    try:
        v = getattr(b, n)
        print(n, type(v).__name__, len(v), [x is None for x in (v.values() if hasattr(v, "values") else v)])
    except AttributeError as e:
        print(n, e)
print(b.l[0], b.l[2]["q"].numpy(), b.d["n"]["m"][0].numpy(), b.t[1].numpy(), b.l[4][0].numpy())
opt = tf.keras.optimizers.Adam(0.1)
layer = tf.keras.layers.Dense(2)
layer.build([None, 3])
opt.build(layer.trainable_variables)
w = tf.train.Checkpoint(o=opt, l=layer).save("ck/opt")
for before in (True, False):
    o2, l2 = tf.keras.optimizers.Adam(0.1), tf.keras.layers.Dense(2)
    ck = tf.train.Checkpoint(o=o2, l=l2)
    st = ck.restore(w) if before else None
    l2.build([None, 3])
    o2.build(l2.trainable_variables)
    st = st or ck.restore(w)
    print(bool(st.assert_consumed()), bool(st.assert_existing_objects_matched()))
