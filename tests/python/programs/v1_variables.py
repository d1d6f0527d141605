"""v1 variables: get_variable, variable_scope, reuse, initialisers, collections, assign ops, partitions of scopes."""
import tensorflow as tf

v1 = tf.compat.v1
with tf.Graph().as_default():
    with v1.variable_scope("layer"):
        w = v1.get_variable("w", shape=[2, 2], initializer=v1.ones_initializer())
        b = v1.get_variable("b", [2], initializer=v1.zeros_initializer())
    with v1.variable_scope("layer", reuse=True):
        again = v1.get_variable("w", [2, 2])
    print(again is w, w.name, w.op.name, w.shape, w.dtype)
    with v1.variable_scope("outer") as scope:
        c = v1.get_variable("c", initializer=tf.constant([1.5, 2.5]), trainable=False)
        with v1.variable_scope("inner"):
            d = v1.get_variable("d", [3], initializer=v1.constant_initializer(7.0))
        scope.reuse_variables()
        print(v1.get_variable("c", [2]) is c, scope.name, scope.original_name_scope, v1.get_variable_scope().name)
    with v1.variable_scope("auto", reuse=v1.AUTO_REUSE):
        e1 = v1.get_variable("e", [], initializer=v1.zeros_initializer())
        e2 = v1.get_variable("e", [], initializer=v1.zeros_initializer())
    print(e1 is e2)
    v = v1.Variable(10.0, name="plain")
    print([x.name for x in v1.global_variables()], [x.name for x in v1.trainable_variables()])
    print([x.name for x in v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES, scope="layer")],
          v1.GraphKeys.GLOBAL_VARIABLES)
    up = v1.assign_add(v, 5.0)
    setb = b.assign([1.0, 2.0])
    init = v1.global_variables_initializer()
    report = v1.report_uninitialized_variables()
    with v1.Session() as sess:
        print(sess.run(report).tolist())
        try:
            sess.run(v.read_value())
        except tf.errors.FailedPreconditionError as e:
            print(type(e).__name__)
        sess.run(init)
        print(sess.run(report).tolist())
        print(sess.run([w, b, c, d]), sess.run(up), sess.run(v), sess.run(setb), sess.run(b))
        v.load(99.0, sess)
        print(v.eval(), sess.run(v1.is_variable_initialized(v)))
        print(sess.run(v1.assign(v, 1.0)), sess.run(v1.assign_sub(v, 3.0)))
    for bad in (lambda: v1.get_variable("layer/w", [2, 2]), lambda: v1.get_variable("bare"),
                lambda: v1.get_variable("x", initializer="nothing")):
        try:
            print(bad())
        except Exception as e:
            print(type(e).__name__, str(e).splitlines()[0])
    with v1.variable_scope("layer", reuse=True):
        try:
            v1.get_variable("missing", [1])
        except ValueError as e:
            print(str(e).splitlines()[0])
        try:
            v1.get_variable("w", [3, 3])
        except ValueError as e:
            print(str(e).splitlines()[0])
    with v1.variable_scope("defaults", initializer=v1.constant_initializer(0.25), dtype=tf.float64):
        k = v1.get_variable("k", [2])
        print(k.dtype, k.name)
    with v1.variable_scope(None, default_name="gen"):
        print(v1.get_variable("z", [1], initializer=v1.initializers.zeros()).name)
    with v1.variable_scope(None, default_name="gen"):
        print(v1.get_variable("z", [1], initializer=v1.initializers.glorot_normal()).name)

    def net(x):
        u = v1.get_variable("u", [], initializer=v1.constant_initializer(3.0))
        return x * u

    template = v1.make_template("tmpl", net)
    r1, r2 = template(tf.constant(1.0)), template(tf.constant(2.0))
    print([x.name for x in template.variables], template.name)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run([r1, r2, k]))
