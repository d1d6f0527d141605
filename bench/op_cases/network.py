"""Products, convolutions, pools, normalisation; variables and optimizers; random numbers."""

import numpy as np

from op_cases.base import case, floats, i32, image, integers, raw, rows, square


@case("MatMul")
def _matmul(tf, n, op, kind):
    return raw(tf, op, a=floats(*square(n)), b=floats(*square(n)))


@case("MatMul/transposed")
def _matmul_transposed(tf, n, op, kind):
    return raw(tf, op, a=floats(*square(n)), b=floats(*square(n)), transpose_b=True)


@case("MatMul/skinny")
def _matmul_skinny(tf, n, op, kind):
    return raw(tf, op, a=floats(*rows(n)), b=floats(64, 16))


@case("MatMul/vector")
def _matmul_vector(tf, n, op, kind):
    side = square(n)[0]
    return raw(tf, op, a=floats(side, side), b=floats(side, 1))


@case("BatchMatMulV2")
def _batch_matmul(tf, n, op, kind):
    count, side = (1, 8) if n < 4096 else (n // 4096, 64)
    return raw(tf, op, x=floats(count, side, side), y=floats(count, side, side))


@case("Einsum")
def _einsum(tf, n, op, kind):
    count, side = (1, 8) if n < 4096 else (n // 4096, 64)
    return raw(tf, op, inputs=[floats(count, side, side), floats(count, side, side)], equation="bij,bkj->bik")


@case("BiasAdd")
def _bias(tf, n, op, kind):
    return raw(tf, op, value=floats(*rows(n)), bias=floats(64))


@case("BiasAddGrad")
def _bias_gradient(tf, n, op, kind):
    return raw(tf, op, out_backprop=floats(*rows(n)))


@case("Softmax", "LogSoftmax")
def _softmax(tf, n, op, kind):
    return raw(tf, op, logits=floats(*rows(n)))


@case("SparseSoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits")
def _cross_entropy(tf, n, op, kind):
    r, c = rows(n)
    labels = integers(r, high=c) if op.startswith("Sparse") else np.full((r, c), 1 / c, "float32")
    return raw(tf, op, features=floats(r, c), labels=labels)


@case("Conv2D", "Conv2D/1x1", "Conv2D/strides")
def _conv(tf, n, op, kind):
    shape, step = (1, 1, 16, 32) if kind == "1x1" else (3, 3, 16, 16), 2 if kind == "strides" else 1
    return raw(tf, op, input=floats(*image(n)), filter=floats(*shape), strides=[1, step, step, 1], padding="SAME")


@case(
    "Conv2DBackpropInput",
    "Conv2DBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter",
)
def _conv_gradient(tf, n, op, kind):
    shape, filters = image(n), (3, 3, 16, 1 if op.startswith("Depthwise") else 16)
    if op.endswith("Input"):
        of = dict(input_sizes=i32(*shape), filter=floats(*filters))
    else:
        of = dict(input=floats(*shape), filter_sizes=i32(*filters))
    return raw(tf, op, **of, out_backprop=floats(*shape), strides=[1, 1, 1, 1], padding="SAME")


@case("DepthwiseConv2dNative", "DepthwiseConv2dNative/strides", "DepthwiseConv2dNative/two")
def _depthwise(tf, n, op, kind):
    many, step = 2 if kind == "two" else 1, 2 if kind == "strides" else 1
    return raw(
        tf, op, input=floats(*image(n)), filter=floats(3, 3, 16, many), strides=[1, step, step, 1], padding="SAME"
    )


@case("MaxPool", "AvgPool", "MaxPool/3x3", "AvgPool/3x3")
def _pool(tf, n, op, kind):
    size, step, padding = (3, 1, "SAME") if kind else (2, 2, "VALID")
    name = "input" if op == "MaxPool" else "value"
    return raw(
        tf, op, **{name: floats(*image(n))}, ksize=[1, size, size, 1], strides=[1, step, step, 1], padding=padding
    )


@case("MaxPoolGrad")
def _max_pool_gradient(tf, n, op, kind):
    x = floats(*image(n))
    b, h, w, d = x.shape
    h, w = h // 2 * 2, w // 2 * 2
    x = x[:, :h, :w].copy()
    y = x.reshape(b, h // 2, 2, w // 2, 2, d).max((2, 4))
    return raw(
        tf,
        op,
        orig_input=x,
        orig_output=y,
        grad=floats(*y.shape),
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
    )


@case("AvgPoolGrad")
def _average_gradient(tf, n, op, kind):
    b, h, w, d = image(n)
    return raw(
        tf,
        op,
        orig_input_shape=i32(b, h, w, d),
        grad=floats(b, h // 2, w // 2, d),
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
    )


@case("FusedBatchNormV3")
def _batch_norm(tf, n, op, kind):
    more = dict(scale=floats(16), offset=floats(16), mean=np.zeros(0, "float32"), variance=np.zeros(0, "float32"))
    return raw(tf, op, x=floats(*image(n)), epsilon=1e-3, is_training=True, **more)


@case("FusedBatchNormV3/inference")
def _batch_norm_inference(tf, n, op, kind):
    more = dict(scale=floats(16), offset=floats(16), mean=floats(16), variance=floats(16, low=0.5))
    return raw(tf, op, x=floats(*image(n)), epsilon=1e-3, is_training=False, **more)


@case("FusedBatchNormGradV3")
def _batch_norm_gradient(tf, n, op, kind):
    x = floats(*image(n))
    more = dict(
        scale=floats(16),
        reserve_space_1=floats(16),
        reserve_space_2=floats(16, low=0.5),
        reserve_space_3=floats(16, low=0.5),
    )
    return raw(tf, op, y_backprop=x, x=x, epsilon=1e-3, is_training=True, **more)


@case("LRN")
def _lrn(tf, n, op, kind):
    return raw(tf, op, input=floats(*image(n)))


@case("ReadVariableOp", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
def _variable(tf, n, op, kind):
    v, value = tf.Variable(floats(n)), tf.constant(floats(n))
    call = getattr(tf.raw_ops, op)
    if op == "ReadVariableOp":
        return lambda: call(resource=v.handle, dtype=tf.float32)
    return lambda: call(resource=v.handle, value=value)


@case("ResourceGather")
def _resource_gather(tf, n, op, kind):
    v, at = tf.Variable(floats(*rows(n))), tf.constant(integers(rows(n)[0], high=rows(n)[0]))
    return lambda: tf.raw_ops.ResourceGather(resource=v.handle, indices=at, dtype=tf.float32)


@case("ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate")
def _resource_scatter(tf, n, op, kind):
    r, c = rows(n)
    v, at, updates = tf.Variable(floats(r, c)), tf.constant(integers(r, high=r)), tf.constant(floats(r, c))
    call = getattr(tf.raw_ops, op)
    return lambda: call(resource=v.handle, indices=at, updates=updates)


@case("ResourceApplyGradientDescent", "ResourceApplyAdam", "ResourceApplyKerasMomentum")
def _apply(tf, n, op, kind):
    v, m, s, g = (tf.Variable(floats(n, low=0.1)) for _ in range(4))
    g = tf.constant(floats(n))
    rate, beta = tf.constant(0.001), tf.constant(0.9)
    call = getattr(tf.raw_ops, op)
    if op == "ResourceApplyGradientDescent":
        return lambda: call(var=v.handle, alpha=rate, delta=g)
    if op == "ResourceApplyKerasMomentum":
        return lambda: call(var=v.handle, accum=m.handle, lr=rate, grad=g, momentum=beta)
    return lambda: call(
        var=v.handle,
        m=m.handle,
        v=s.handle,
        beta1_power=beta,
        beta2_power=beta,
        lr=rate,
        beta1=beta,
        beta2=beta,
        epsilon=rate,
        grad=g,
    )


@case("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt")
def _random(tf, n, op, kind):
    if op == "RandomUniformInt":
        return raw(tf, op, shape=i32(n), minval=np.int32(0).reshape(()), maxval=np.int32(99).reshape(()))
    return raw(tf, op, shape=i32(n), dtype=tf.float32)


@case("RandomShuffle")
def _shuffle(tf, n, op, kind):
    return raw(tf, op, value=floats(n))


@case("RandomShuffle/rows")
def _shuffle_rows(tf, n, op, kind):
    return raw(tf, op, value=floats(*rows(n)))


@case("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2")
def _stateless(tf, n, op, kind):
    key, counter = np.array([1], "uint64"), np.array([1, 2], "uint64")
    return raw(tf, op, shape=i32(n), key=key, counter=counter, alg=np.int32(1).reshape(()), dtype=tf.float32)


@case("StatelessRandomUniformFullIntV2")
def _stateless_integer(tf, n, op, kind):
    key, counter = np.array([1], "uint64"), np.array([1, 2], "uint64")
    return raw(tf, op, shape=i32(n), key=key, counter=counter, alg=np.int32(1).reshape(()), dtype=tf.int32)


@case("Multinomial")
def _multinomial(tf, n, op, kind):
    return raw(tf, op, logits=floats(*rows(n)), num_samples=np.int32(4).reshape(()))
