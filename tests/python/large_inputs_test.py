"""Inputs long enough for the loops that work on many elements at a time, with a tail that does not fill a register: beside numpy and Python."""

import math

import numpy as np
import pytest

import weft as tf

R = np.random.RandomState(3)


def floats(*shape, low=-3.0, high=3.0):
    return R.uniform(low, high, shape).astype("float32")


def test_quotients_and_remainders():
    a, b = floats(1003, low=-50, high=50), floats(1003, low=0.1) * np.where(R.rand(1003) < 0.5, 1, -1).astype("float32")
    np.testing.assert_array_equal(tf.raw_ops.FloorDiv(x=a, y=b), np.floor(a / b))
    np.testing.assert_array_equal(tf.raw_ops.FloorMod(x=a, y=b), np.where((m := np.fmod(a, b)) * b < 0, m + b, m))
    np.testing.assert_array_equal(tf.raw_ops.TruncateMod(x=a, y=b), np.fmod(a, b))
    i, j = (
        R.randint(-1000, 1000, 1003).astype("int32"),
        R.randint(1, 50, 1003).astype("int32") * np.where(R.rand(1003) < 0.5, 1, -1).astype("int32"),
    )
    np.testing.assert_array_equal(tf.raw_ops.FloorDiv(x=i, y=j), i // j)
    np.testing.assert_array_equal(tf.raw_ops.FloorMod(x=i, y=j), i % j)
    np.testing.assert_array_equal(tf.raw_ops.TruncateDiv(x=i, y=np.int32(7)), np.trunc(i / 7).astype("int32"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        tf.raw_ops.FloorDiv(x=i, y=np.int32(0))


def test_functions_of_two_numbers():
    a, b = floats(517), floats(517, low=0.1)
    np.testing.assert_allclose(tf.atan2(a, b - 1.5), np.arctan2(a, b - np.float32(1.5)), rtol=1e-6)
    np.testing.assert_allclose(tf.raw_ops.Xlogy(x=a, y=b), a * np.log(b), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(tf.raw_ops.Xlog1py(x=a, y=b), a * np.log1p(b), rtol=1e-5)
    np.testing.assert_allclose(tf.raw_ops.Xdivy(x=a, y=b), a / b, rtol=1e-6)
    np.testing.assert_allclose(tf.raw_ops.SoftplusGrad(gradients=a, features=b), a / (1 + np.exp(-b)), rtol=1e-5)
    np.testing.assert_allclose(tf.raw_ops.SoftsignGrad(gradients=a, features=-b), a / (1 + b) ** 2, rtol=1e-5)
    np.testing.assert_allclose(
        tf.raw_ops.SeluGrad(gradients=a, outputs=b - 1),
        np.where(b < 1, a * (b - 1 + 1.7580993), a * 1.050701),
        rtol=1e-5,
        atol=1e-6,
    )
    assert tf.raw_ops.Xlogy(x=[0.0], y=[0.0]).numpy() == 0
    np.testing.assert_array_equal(tf.clip_by_value(a, -1.0, 2.0), np.clip(a, -1, 2))


def test_bits():
    x, y = R.randint(-(2**31), 2**31, 101).astype("int32"), R.randint(-3, 40, 101).astype("int32")
    count = np.clip(y, 0, 31)
    np.testing.assert_array_equal(tf.bitwise.left_shift(x, y), np.left_shift(x, count))
    np.testing.assert_array_equal(tf.bitwise.right_shift(x, y), np.right_shift(x, count))
    np.testing.assert_array_equal(tf.bitwise.bitwise_xor(x, y), x ^ y)
    np.testing.assert_array_equal(tf.bitwise.invert(x), ~x)
    np.testing.assert_array_equal(tf.raw_ops.PopulationCount(x=x), [bin(int(v) & 0xFFFFFFFF).count("1") for v in x])
    np.testing.assert_array_equal(tf.sign(x), np.sign(x))


def test_parts_of_complex_numbers():
    z = (floats(37) + 1j * floats(37)).astype("complex64")
    np.testing.assert_array_equal(tf.math.real(z), z.real)
    np.testing.assert_array_equal(tf.math.imag(z), z.imag)


@pytest.mark.parametrize("n", [4, 6, 7, 8, 30, 64, 100, 129])
@pytest.mark.parametrize("lines", [1, 8, 19])
def test_fourier_transforms_of_several_lines(n, lines):
    x = (floats(lines, n) + 1j * floats(lines, n)).astype("complex64")
    want = np.fft.fft(x.astype("complex128"))
    near = dict(rtol=1e-4, atol=1e-5 * n)
    np.testing.assert_allclose(tf.signal.fft(x), want, **near)
    np.testing.assert_allclose(tf.signal.ifft(x), np.fft.ifft(x.astype("complex128")), **near)
    np.testing.assert_allclose(tf.signal.rfft(x.real), np.fft.rfft(x.real.astype("float64")), **near)
    np.testing.assert_allclose(tf.signal.irfft(tf.signal.rfft(x.real), [n]), x.real, **near)
    np.testing.assert_allclose(
        tf.signal.fft2d(x), np.fft.fft2(x.astype("complex128")), rtol=1e-4, atol=1e-5 * n * lines
    )


@pytest.mark.parametrize("channels,multiplier", [(1, 1), (3, 2), (4, 3), (13, 1), (16, 2), (20, 2), (40, 1)])
@pytest.mark.parametrize("stride,dilation", [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_depthwise_convolutions(channels, multiplier, stride, dilation, dtype):
    x, f = floats(2, 9, 11, channels).astype(dtype), floats(3, 3, channels, multiplier).astype(dtype)
    got = tf.nn.depthwise_conv2d(x, f, [1, stride, stride, 1], "SAME", dilations=[dilation, dilation]).numpy()
    _, h, w, _ = got.shape
    reach = 2 * dilation + 1
    pad = [max((o - 1) * stride + reach - i, 0) for o, i in ((h, 9), (w, 11))]
    padded = np.pad(
        x, [(0, 0), (pad[0] // 2, pad[0] - pad[0] // 2), (pad[1] // 2, pad[1] - pad[1] // 2), (0, 0)]
    ).astype("float64")
    want = np.zeros((2, h, w, channels, multiplier))
    for i in range(3):
        for j in range(3):
            part = padded[:, i * dilation :, j * dilation :][
                :, : (h - 1) * stride + 1 : stride, : (w - 1) * stride + 1 : stride
            ]
            want += part[..., None] * f[i, j]
    np.testing.assert_allclose(got, want.reshape(got.shape), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_segments(dtype):
    x, ids = (R.randint(1, 9, (40, 21))).astype(dtype), np.sort(R.randint(0, 7, 40)).astype("int32")
    ids[0], ids[-1] = 0, 6
    rows = [x[ids == k] for k in range(7)]
    for op, f in (("sum", np.sum), ("max", np.max), ("min", np.min), ("prod", np.prod)):
        want = np.stack([f(r, 0).astype(dtype) if len(r) else np.full(21, op == "prod", dtype) for r in rows])
        np.testing.assert_allclose(getattr(tf.math, f"segment_{op}")(x, ids), want, rtol=1e-5)
    if "float" in dtype:
        want = np.stack([r.mean(0) if len(r) else np.zeros(21) for r in rows])
        np.testing.assert_allclose(tf.math.segment_mean(x, ids), want, rtol=1e-5)
        np.testing.assert_allclose(tf.sparse.segment_mean(x, np.arange(40), ids), want, rtol=1e-5)


@pytest.mark.parametrize(
    "values",
    [
        R.randint(-50, 50, 3000).astype("int32"),
        R.randint(-(10**15), 10**15, 5000),
        R.randint(0, 9, 700).astype("uint8"),
    ],
)
def test_distinct_values(values):
    y, idx, counts = tf.unique_with_counts(values)
    order = list(dict.fromkeys(values.tolist()))
    np.testing.assert_array_equal(y, order)
    np.testing.assert_array_equal(y.numpy()[idx.numpy()], values)
    np.testing.assert_array_equal(counts, [np.sum(values == v) for v in order])


def test_distinct_strings_and_floats():
    text = np.array([b"word %d" % (i * i % 97) for i in range(1000)], object)
    y, idx = tf.unique(text)
    assert y.numpy().tolist() == list(dict.fromkeys(text.tolist()))
    assert y.numpy()[idx.numpy()].tolist() == text.tolist()
    y, idx = tf.unique([0.0, -0.0, math.nan, 1.0, math.nan, 1.0])
    np.testing.assert_array_equal(idx, [0, 0, 1, 2, 3, 2])
    assert tf.unique(np.full(200000, math.nan, "float32"))[0].shape == [200000]  # each its own, and not slowly


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_what_is_in_one_list_only(dtype):
    x, y = R.randint(0, 500, 900).astype(dtype), R.randint(0, 500, 300).astype(dtype)
    out, idx = tf.raw_ops.ListDiff(x=x, y=y)
    want = [i for i, v in enumerate(x) if v not in set(y.tolist())]
    np.testing.assert_array_equal(idx, want)
    np.testing.assert_array_equal(out, x[want])
    assert tf.raw_ops.ListDiff(x=[b"a", b"b", b"a"], y=[b"b"])[1].numpy().tolist() == [0, 2]
    assert tf.raw_ops.ListDiff(x=[math.nan, -0.0, 1.0], y=[math.nan, 0.0])[1].numpy().tolist() == [0, 2]


@pytest.mark.parametrize("key", ["int64", "int32", "string"])
def test_tables_with_keys_that_come_and_go(key):
    make = (lambda k: tf.constant([b"key %d" % i for i in k])) if key == "string" else (lambda k: tf.constant(k, key))
    table = tf.lookup.experimental.MutableHashTable(getattr(tf, key), tf.int32, -1)
    there = {}
    for _ in range(30):
        some = R.randint(0, 300, 40).tolist()
        table.insert(make(some), tf.constant([k * 7 for k in some], tf.int32))
        there.update({k: k * 7 for k in some})
        gone = R.randint(0, 300, 25).tolist()
        table.remove(make(gone))
        for k in gone:
            there.pop(k, None)
        assert table.size().numpy() == len(there)
        np.testing.assert_array_equal(table.lookup(make(list(range(300)))), [there.get(k, -1) for k in range(300)])


def test_counts_and_permutations():
    x = R.randint(0, 30, 1000)
    for dtype in ("int32", "int64"):
        np.testing.assert_array_equal(tf.math.bincount(x.astype(dtype), minlength=40), np.bincount(x, minlength=40))
        p = R.permutation(500).astype(dtype)
        np.testing.assert_array_equal(tf.math.invert_permutation(p), np.argsort(p))
        with pytest.raises(tf.errors.InvalidArgumentError, match="1 is duplicated in the input"):
            tf.math.invert_permutation(np.array([0, 1, 1], dtype))
        with pytest.raises(tf.errors.InvalidArgumentError, match="-1 is not between 0 and 2"):
            tf.math.invert_permutation(np.array([0, -1], dtype))
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        tf.raw_ops.DenseBincount(input=[1, -1], size=3, weights=np.zeros(0, "int32"))


@pytest.mark.parametrize("width", [1, 7, 8, 30, 67])
def test_reversed_rows(width):
    x = floats(5, width)
    np.testing.assert_array_equal(tf.reverse(x, [1]), x[:, ::-1])
    np.testing.assert_array_equal(tf.reverse(x, [0, 1]), x[::-1, ::-1])


def test_sparse_to_dense():
    at = np.array([[0, 1], [2, 0], [3, 4]], "int64")
    want = np.full((4, 5), 9, "float32")
    want[tuple(at.T)] = [1, 2, 3]
    np.testing.assert_array_equal(
        tf.sparse.to_dense(tf.sparse.SparseTensor(at, np.float32([1, 2, 3]), [4, 5]), 9.0), want
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        tf.raw_ops.SparseToDense(
            sparse_indices=[[4, 0]], output_shape=[4, 5], sparse_values=[1.0], default_value=0.0, validate_indices=False
        )


def test_numbers_as_text():
    some = np.array([0.0, -0.0, 1.5, -2.25, 1e-7, 123456789.125, 1e300, -1e-300, math.inf, -math.inf, 0.1])
    texts = lambda **attributes: [t.decode() for t in tf.strings.as_string(some, **attributes).numpy()]
    assert texts() == ["%f" % v for v in some]
    assert texts(precision=2) == ["%.2f" % v for v in some]
    assert texts(scientific=True) == ["%e" % v for v in some]
    assert texts(shortest=True) == ["%g" % v for v in some]
    assert texts(width=12, precision=1) == ["%12.1f" % v for v in some]
    whole = np.array([0, -1, 7, 2**31 - 1, -(2**31)], "int32")
    assert [t.decode() for t in tf.strings.as_string(whole).numpy()] == [str(v) for v in whole]
    assert tf.strings.as_string(np.uint64(2**64 - 1)).numpy() == b"18446744073709551615"
    assert tf.strings.as_string(np.int8([-128])).numpy().tolist() == [b"-128"]


def test_parts_of_strings_by_row_and_column():
    text = np.array([[b"abcdef", b"ghijkl"], [b"mnopqr", b"stuvwx"]], object)
    assert tf.strings.substr(text, 1, 2).numpy().tolist() == [[b"bc", b"hi"], [b"no", b"tu"]]
    assert tf.strings.substr(text, [1, 2], [2, 1]).numpy().tolist() == [[b"bc", b"i"], [b"no", b"u"]]
    assert tf.strings.substr(text, [[1], [2]], [[2], [1]]).numpy().tolist() == [[b"bc", b"hi"], [b"o", b"u"]]
    assert tf.strings.substr(b"abcdef", [1, 2], [2, 1]).numpy().tolist() == [b"bc", b"c"]


@pytest.mark.parametrize("beta", [0.5, 0.75, 1.0, 0.6])
def test_local_response_normalisation(beta):
    x = floats(1, 3, 3, 9)
    square = np.pad(x.astype("float64") ** 2, [(0, 0)] * 3 + [(2, 2)])
    around = sum(square[..., k : k + 9] for k in range(5))
    got = tf.nn.local_response_normalization(x, depth_radius=2, bias=1.5, alpha=0.3, beta=beta)
    np.testing.assert_allclose(got, x / (1.5 + 0.3 * around) ** beta, rtol=1e-5)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_contrast(channels):
    x = floats(2, 5, 7, channels, low=0, high=1)
    mean = x.mean((1, 2), keepdims=True, dtype="float64")
    np.testing.assert_allclose(
        tf.raw_ops.AdjustContrastv2(images=x, contrast_factor=1.7), (x - mean) * 1.7 + mean, rtol=1e-4, atol=1e-5
    )
