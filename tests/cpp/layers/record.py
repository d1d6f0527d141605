"""Records what Keras' layers give: for each case inputs, weights, outputs, gradients, and the weights afterwards.

    python tests/cpp/layers/record.py tests/cpp/layers/layers.bin

Needs TensorFlow 2.21 with Keras 3; play.cc makes the same layers and compares. The file is a row of cases: a name, a count,
and that many arrays (name, type, shape, bytes). Array names: in0.. inputs, mask, w0.. weights in the order of layer.weights,
out0.. outputs, cot0.. what the outputs' gradients are taken with, din0.., dw0.. gradients, after0.. weights after the call.
"""

import struct
import sys

import keras
import numpy as np
import tensorflow as tf

L = keras.layers
rng = np.random.RandomState(7)
out = []


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def put(name, arrays):
    blob = struct.pack("<I", len(name)) + name.encode() + struct.pack("<I", len(arrays))
    for key, a in arrays:
        a = np.asarray(a)
        code = {"float32": 1, "float64": 2, "int32": 3, "int64": 9, "bool": 10}[a.dtype.name]
        blob += struct.pack("<I", len(key)) + key.encode() + struct.pack("<II", code, a.ndim)
        blob += struct.pack("<%dq" % a.ndim, *a.shape) + np.ascontiguousarray(a).tobytes()
    out.append(blob)


def case(name, layer, *inputs, training=False, mask=None, call=None, randomize=True):
    tensors = [tf.constant(x) for x in inputs]

    def run():
        kw = {}
        if "training" in layer._call_signature.parameters or isinstance(layer, keras.Sequential):
            kw["training"] = training
        if mask is not None:
            kw["mask"] = tf.constant(mask)
        if call is not None:
            r = call(layer, tensors, kw)
        else:
            r = layer(tensors[0] if len(tensors) == 1 else tensors, **kw)
        return list(r) if isinstance(r, (list, tuple)) else [r]

    run()
    for w in layer.weights:  # nothing is left at zero or one
        if randomize and w.dtype.startswith("float"):
            v = f(*w.shape) * 0.5
            w.assign(np.abs(v) + 0.5 if "variance" in w.name else v)
    arrays = [("in%d" % i, x) for i, x in enumerate(inputs)]
    if mask is not None:
        arrays.append(("mask", mask))
    arrays += [("w%d" % i, w.numpy()) for i, w in enumerate(layer.weights)]
    with tf.GradientTape() as tape:
        watched = [t for t in tensors if t.dtype.is_floating]
        for t in watched:
            tape.watch(t)
        outs = run()
        cots = [tf.constant(f(*o.shape)) for o in outs]
        loss = tf.add_n([tf.reduce_sum(o * c) for o, c in zip(outs, cots)])
        if layer.losses:
            loss += tf.add_n(layer.losses)
    variables = layer.trainable_variables
    grads = tape.gradient(loss, watched + [v.value for v in variables])
    arrays += [("out%d" % i, o.numpy()) for i, o in enumerate(outs)]
    arrays += [("cot%d" % i, c.numpy()) for i, c in enumerate(cots)]
    for i, g in enumerate(grads[: len(watched)]):
        if g is not None:
            arrays.append(("din%d" % i, tf.convert_to_tensor(g).numpy()))
    for i, g in enumerate(grads[len(watched) :]):
        if g is not None:
            arrays.append(("dw%d" % i, tf.convert_to_tensor(g).numpy()))
    arrays += [("after%d" % i, w.numpy()) for i, w in enumerate(layer.weights)]
    put(name, arrays)


# Activations, by name.
for a in [
    "relu",
    "relu6",
    "leaky_relu",
    "elu",
    "selu",
    "gelu",
    "sigmoid",
    "hard_sigmoid",
    "hard_silu",
    "log_sigmoid",
    "tanh",
    "softmax",
    "log_softmax",
    "softplus",
    "softsign",
    "silu",
    "mish",
    "exponential",
    "linear",
]:
    case("activation/" + a, L.Activation(a), f(3, 5) * 3)
case("gelu_approximate", L.Lambda(lambda x: keras.activations.gelu(x, approximate=True)), f(3, 5) * 2)

# Initializers: values for a seed.
for n, init, shape in [
    ("glorot_uniform", keras.initializers.GlorotUniform(seed=42), (7, 5)),
    ("glorot_normal", keras.initializers.GlorotNormal(seed=42), (7, 5)),
    ("he_uniform", keras.initializers.HeUniform(seed=1), (3, 3, 4, 8)),
    ("he_normal", keras.initializers.HeNormal(seed=1), (3, 3, 4, 8)),
    ("lecun_uniform", keras.initializers.LecunUniform(seed=3), (6,)),
    ("lecun_normal", keras.initializers.LecunNormal(seed=3), (6, 2)),
    ("random_normal", keras.initializers.RandomNormal(seed=5), (4, 3)),
    ("random_uniform", keras.initializers.RandomUniform(seed=5), (4, 3)),
    ("truncated_normal", keras.initializers.TruncatedNormal(seed=5), (4, 3)),
    ("variance_scaling", keras.initializers.VarianceScaling(0.3, "fan_out", "untruncated_normal", seed=9), (4, 3)),
    ("orthogonal", keras.initializers.Orthogonal(seed=2), (6, 4)),
    ("orthogonal_wide", keras.initializers.Orthogonal(gain=2.0, seed=2), (2, 2, 7)),
    ("identity", keras.initializers.Identity(1.5), (3, 5)),
    ("constant", keras.initializers.Constant(0.25), (3,)),
]:
    put("init/" + n, [("out0", init(shape, dtype="float32").numpy())])

# Regularizers and constraints.
for n, r in [
    ("l1", keras.regularizers.L1(0.02)),
    ("l2", keras.regularizers.L2(0.03)),
    ("l1_l2", keras.regularizers.L1L2(0.1, 0.2)),
    ("orthogonal_rows", keras.regularizers.OrthogonalRegularizer(0.3, "rows")),
    ("orthogonal_columns", keras.regularizers.OrthogonalRegularizer(0.3, "columns")),
]:
    x = f(3, 4)
    put("regularizer/" + n, [("in0", x), ("out0", r(tf.constant(x)).numpy())])
for n, c in [
    ("max_norm", keras.constraints.MaxNorm(0.7)),
    ("min_max_norm", keras.constraints.MinMaxNorm(0.5, 0.9, 0.4)),
    ("unit_norm", keras.constraints.UnitNorm()),
    ("non_neg", keras.constraints.NonNeg()),
]:
    x = f(3, 4)
    put("constraint/" + n, [("in0", x), ("out0", tf.convert_to_tensor(c(tf.constant(x))).numpy())])

# Core.
case("dense", L.Dense(4), f(3, 5))
case("dense_rank3", L.Dense(4, activation="relu", use_bias=False), f(2, 3, 5))
case(
    "dense_regularized", L.Dense(4, kernel_regularizer="l2", bias_regularizer="l1", activity_regularizer="l2"), f(3, 5)
)
case("embedding", L.Embedding(6, 3), np.array([[1, 5, 0], [2, 2, 3]], np.int32))
case("flatten", L.Flatten(), f(2, 3, 4))
case("reshape", L.Reshape((-1, 2)), f(2, 3, 4))
case("permute", L.Permute((2, 1, 3)), f(2, 3, 4, 2))
case("repeat_vector", L.RepeatVector(3), f(2, 4))
case("relu_layer", L.ReLU(max_value=1.5, negative_slope=0.1, threshold=0.2), f(3, 7) * 2)
case("leaky_relu_layer", L.LeakyReLU(), f(3, 4))
case("elu_layer", L.ELU(0.7), f(3, 4))
case("softmax_axis", L.Softmax(axis=1), f(2, 3, 4))
case("softmax_mask", L.Softmax(), f(2, 3), mask=np.array([[True, False, True], [True, True, False]]))
case("prelu", L.PReLU(shared_axes=[1]), f(2, 3, 4))
case("rescaling", L.Rescaling(0.5, -1.0), f(2, 3))
case("dropout", L.Dropout(0.4, seed=11), f(5, 6), training=True)
case("dropout_off", L.Dropout(0.4, seed=11), f(5, 6))
case("spatial_dropout_1d", L.SpatialDropout1D(0.4, seed=12), f(3, 4, 5), training=True)
case("spatial_dropout_2d", L.SpatialDropout2D(0.4, seed=12), f(3, 4, 2, 5), training=True)
case("gaussian_noise", L.GaussianNoise(0.3, seed=13), f(3, 4), training=True)

# Convolutions.
case("conv1d", L.Conv1D(4, 3), f(2, 8, 3))
case("conv1d_causal", L.Conv1D(4, 3, padding="causal", dilation_rate=2, activation="tanh"), f(2, 8, 3))
case("conv2d", L.Conv2D(4, 3, activation="relu"), f(2, 7, 6, 3))
case("conv2d_same_strided", L.Conv2D(4, (3, 2), strides=2, padding="same"), f(2, 7, 6, 3))
case("conv2d_dilated", L.Conv2D(4, 3, dilation_rate=2, use_bias=False), f(2, 7, 8, 3))
case("conv2d_groups", L.Conv2D(4, 3, groups=2), f(2, 5, 5, 4))
case("conv3d", L.Conv3D(2, 2, padding="same", strides=(1, 2, 1)), f(2, 4, 5, 3, 2))
case("conv1d_transpose", L.Conv1DTranspose(3, 3, strides=2, padding="same"), f(2, 5, 2))
case("conv2d_transpose", L.Conv2DTranspose(3, 3, strides=2), f(2, 4, 5, 2))
case("conv2d_transpose_small", L.Conv2DTranspose(3, 2, strides=3), f(2, 3, 3, 2))
case("conv2d_transpose_same", L.Conv2DTranspose(3, (3, 4), strides=2, padding="same", activation="elu"), f(2, 4, 5, 2))
case("conv2d_transpose_padded", L.Conv2DTranspose(3, 3, strides=2, padding="same", output_padding=1), f(2, 4, 5, 2))
case("conv3d_transpose", L.Conv3DTranspose(2, 2, strides=2), f(1, 2, 3, 2, 2))
case("depthwise_conv1d", L.DepthwiseConv1D(3, strides=2, depth_multiplier=2), f(2, 8, 3))
case("depthwise_conv2d", L.DepthwiseConv2D(3, depth_multiplier=2, padding="same"), f(2, 5, 6, 3))
case("separable_conv1d", L.SeparableConv1D(4, 3, depth_multiplier=2), f(2, 8, 3))
case("separable_conv2d", L.SeparableConv2D(4, 3, strides=2, padding="same"), f(2, 7, 6, 3))
for d in (1, 2, 3):
    shape = (2,) + (5, 6, 4)[:d] + (3,)
    case("max_pooling%dd" % d, getattr(L, "MaxPooling%dD" % d)(2), f(*shape))
    case("max_pooling%dd_same" % d, getattr(L, "MaxPooling%dD" % d)(3, strides=2, padding="same"), f(*shape))
    case("average_pooling%dd" % d, getattr(L, "AveragePooling%dD" % d)(2), f(*shape))
    case("average_pooling%dd_same" % d, getattr(L, "AveragePooling%dD" % d)(3, strides=2, padding="same"), f(*shape))
    case("global_max_pooling%dd" % d, getattr(L, "GlobalMaxPooling%dD" % d)(), f(*shape))
    case("global_average_pooling%dd" % d, getattr(L, "GlobalAveragePooling%dD" % d)(keepdims=True), f(*shape))
    case("zero_padding%dd" % d, getattr(L, "ZeroPadding%dD" % d)(2), f(*shape))
    case("cropping%dd" % d, getattr(L, "Cropping%dD" % d)(1), f(*shape))
    case("up_sampling%dd" % d, getattr(L, "UpSampling%dD" % d)(2), f(*shape))
case(
    "global_average_pooling1d_mask",
    L.GlobalAveragePooling1D(),
    f(2, 4, 3),
    mask=np.array([[True, True, False, False], [True, True, True, False]]),
)
case("zero_padding2d_pairs", L.ZeroPadding2D(((1, 2), (0, 3))), f(2, 3, 4, 2))
case("cropping2d_pairs", L.Cropping2D(((1, 0), (0, 2))), f(2, 5, 6, 2))
case("up_sampling2d_bilinear", L.UpSampling2D((2, 3), interpolation="bilinear"), f(2, 3, 4, 2))

# Normalisation.
for t in (False, True):
    tag = "_training" if t else ""
    case("batch_normalization" + tag, L.BatchNormalization(), f(6, 5), training=t)
    case("batch_normalization_4d" + tag, L.BatchNormalization(momentum=0.8, epsilon=1e-4), f(3, 4, 5, 2), training=t)
    case("batch_normalization_3d" + tag, L.BatchNormalization(scale=False), f(3, 4, 2), training=t)
    case("batch_normalization_axis" + tag, L.BatchNormalization(axis=1, center=False), f(3, 4, 5, 2), training=t)
case(
    "batch_normalization_mask",
    L.BatchNormalization(),
    f(3, 4, 2),
    training=True,
    mask=np.array([[True, True, False, False], [True, True, True, False], [True] * 4]),
)
case("layer_normalization", L.LayerNormalization(), f(3, 4, 5))
case("layer_normalization_axes", L.LayerNormalization(axis=[1, 2], epsilon=1e-5), f(3, 4, 5))
case("group_normalization", L.GroupNormalization(2), f(3, 4, 5, 6))
case("group_normalization_instance", L.GroupNormalization(-1, axis=1), f(3, 4, 5))
case("unit_normalization", L.UnitNormalization(), f(3, 4))
n = L.Normalization()
n.adapt(f(10, 4) * 2 + 1)
case("normalization_adapted", n, f(3, 4), randomize=False)
case("normalization_given", L.Normalization(mean=1.5, variance=4.0), f(3, 4))

# Recurrent.
mask4 = np.array([[True, True, False, False], [True, True, True, True], [False, True, True, False]])
for n, c in [("simple_rnn", L.SimpleRNN), ("lstm", L.LSTM), ("gru", L.GRU)]:
    case(n, c(5), f(3, 4, 2))
    case(n + "_sequences", c(5, return_sequences=True, return_state=True), f(3, 4, 2))
    case(n + "_backwards", c(5, return_sequences=True, go_backwards=True), f(3, 4, 2))
    case(n + "_mask", c(5, return_sequences=True, return_state=True), f(3, 4, 2), mask=mask4)
    case(n + "_mask_last", c(5), f(3, 4, 2), mask=mask4)
    case(
        n + "_mask_zero_backwards",
        c(3, return_sequences=True, zero_output_for_mask=True, go_backwards=True),
        f(3, 4, 2),
        mask=mask4,
    )
    case("bidirectional_" + n, L.Bidirectional(c(3, return_sequences=True)), f(3, 4, 2))
    case("bidirectional_sum_" + n, L.Bidirectional(c(3), merge_mode="sum"), f(3, 4, 2), mask=mask4)
case("lstm_no_bias", L.LSTM(3, use_bias=False, activation="relu", recurrent_activation="hard_sigmoid"), f(3, 4, 2))
case(
    "lstm_initial_state",
    L.LSTM(3, return_state=True),
    f(3, 4, 2),
    f(3, 3),
    f(3, 3),
    call=lambda l, t, kw: l(t[0], initial_state=t[1:], **kw),
)
case("gru_initial_state", L.GRU(3), f(3, 4, 2), f(3, 3), call=lambda l, t, kw: l(t[0], initial_state=t[1], **kw))
case("gru_reset_before", L.GRU(3, reset_after=False), f(3, 4, 2))
case("bidirectional_state_lstm", L.Bidirectional(L.LSTM(3, return_state=True)), f(3, 4, 2))
case("time_distributed", L.TimeDistributed(L.Dense(3)), f(2, 4, 5))
case("time_distributed_conv", L.TimeDistributed(L.Conv2D(3, 2)), f(2, 3, 4, 4, 2))

# Attention.
case(
    "multi_head_attention",
    L.MultiHeadAttention(2, 3),
    f(2, 4, 5),
    f(2, 6, 5),
    call=lambda l, t, kw: l(t[0], t[1], **kw),
)
case(
    "multi_head_attention_key",
    L.MultiHeadAttention(2, 3, value_dim=4, output_shape=7, use_bias=False),
    f(2, 4, 5),
    f(2, 6, 5),
    f(2, 6, 3),
    call=lambda l, t, kw: l(t[0], t[1], key=t[2], **kw),
)
case(
    "multi_head_attention_causal",
    L.MultiHeadAttention(2, 3),
    f(2, 4, 5),
    call=lambda l, t, kw: l(t[0], t[0], use_causal_mask=True, **kw),
)
case(
    "multi_head_attention_scores",
    L.MultiHeadAttention(2, 3),
    f(2, 4, 5),
    f(2, 6, 5),
    call=lambda l, t, kw: l(t[0], t[1], return_attention_scores=True, **kw),
)
case(
    "multi_head_attention_mask",
    L.MultiHeadAttention(2, 3),
    f(2, 4, 5),
    f(2, 6, 5),
    rng.rand(2, 4, 6) > 0.4,
    call=lambda l, t, kw: l(t[0], t[1], attention_mask=t[2], **kw),
)
case("attention", L.Attention(), f(2, 4, 5), f(2, 6, 5))
case("attention_scaled", L.Attention(use_scale=True), f(2, 4, 5), f(2, 6, 5), f(2, 6, 5))
case("attention_concat", L.Attention(score_mode="concat"), f(2, 4, 5), f(2, 6, 5))
case("additive_attention", L.AdditiveAttention(), f(2, 4, 5), f(2, 6, 5))

# Merging.
for n, c in [
    ("add", L.Add),
    ("subtract", L.Subtract),
    ("multiply", L.Multiply),
    ("average", L.Average),
    ("maximum", L.Maximum),
    ("minimum", L.Minimum),
]:
    case(n, c(), f(2, 3), f(2, 3))
case("add_three", L.Add(), f(2, 3), f(2, 3), f(2, 3))
case("add_broadcast", L.Add(), f(2, 4, 3), f(2, 3))
case("concatenate", L.Concatenate(), f(2, 3, 2), f(2, 3, 4))
case("concatenate_axis", L.Concatenate(axis=1), f(2, 3, 2), f(2, 4, 2))
case("dot", L.Dot(axes=1), f(2, 3), f(2, 3))
case("dot_matrices", L.Dot(axes=(2, 1), normalize=True), f(2, 3, 4), f(2, 4, 5))

# A whole model, frozen in part.
m = keras.Sequential(
    [
        L.Conv2D(3, 3, activation="relu"),
        L.MaxPooling2D(2),
        L.BatchNormalization(),
        L.Flatten(),
        L.Dense(6, "tanh"),
        L.Dense(3),
    ]
)
case("sequential", m, f(4, 8, 8, 1), training=True)
m = keras.Sequential([L.Embedding(7, 4, mask_zero=True), L.LSTM(5), L.Dense(3, "softmax")])
case("sequential_masked", m, np.array([[1, 2, 0, 0], [3, 4, 5, 6]], np.int32))
m = keras.Sequential([keras.Sequential([L.Masking(0.0), L.LSTM(4, return_sequences=True)]), L.GRU(3)])
x = f(3, 4, 2)
x[0, 2:] = 0
x[2, 1] = 0
case("nested_masked", m, x)
i = keras.Input((4,), dtype="int32")
inner = keras.Model(i, L.Dense(3)(L.Embedding(7, 4, mask_zero=True)(i)))
j = keras.Input((4,), dtype="int32")
case("functional_masked", keras.Model(j, L.LSTM(5)(inner(j))), np.array([[1, 2, 0, 0], [3, 4, 5, 6]], np.int32))

open(sys.argv[1], "wb").write(b"".join(out))
print(len(out), "cases")
