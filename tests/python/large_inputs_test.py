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


@pytest.mark.parametrize("n", [1 << 16, 3 << 15, 8 * 8 * 1331, 65537])
def test_fourier_transform_of_a_long_line(n):
    z = (floats(n) + 1j * floats(n)).astype("complex64")
    want = np.fft.fft(z.astype("complex128"))
    scale = np.abs(want).max()
    np.testing.assert_allclose(tf.signal.fft(z).numpy() / scale, want / scale, atol=2e-6)
    np.testing.assert_allclose(tf.signal.ifft(want.astype("complex64")), z, atol=2e-5)


def test_fourier_transforms_of_columns():
    z = (floats(2, 30, 21) + 1j * floats(2, 30, 21)).astype("complex64")
    np.testing.assert_allclose(tf.signal.fft2d(z), np.fft.fft2(z), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(tf.signal.ifft2d(z), np.fft.ifft2(z), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [60, 200, 3000, 40000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int32", "int64", "uint16"])
def test_order(n, dtype):
    x = R.randint(0, 90, n).astype(dtype) if dtype in ("uint16", "int8") else (floats(n) * 40).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[5], x[9], x[11] = 0.0, -0.0, np.inf
    up = np.argsort(x, kind="stable")
    down = np.argsort(-x.astype("float64"), kind="stable")
    if dtype in ("float32", "float64", "int32"):
        np.testing.assert_array_equal(tf.argsort(x, stable=True), up)
    for k in (n, n // 2, 17, 2):
        values, indices = tf.raw_ops.TopKV2(input=x, k=k)
        np.testing.assert_array_equal(indices, down[:k])
        np.testing.assert_array_equal(values, x[down[:k]])
    np.testing.assert_array_equal(tf.raw_ops.NthElement(input=x[None], n=n // 3), x[up[n // 3 : n // 3 + 1]])


def test_order_with_nan():
    x = floats(500)
    x[[3, 77, 400]] = np.nan
    want = sorted(range(500), key=lambda i: (0 if np.isnan(x[i]) else 1, -x[i] if x[i] == x[i] else 0, i))
    np.testing.assert_array_equal(tf.raw_ops.TopKV2(input=x, k=500).indices, want)
    np.testing.assert_array_equal(tf.raw_ops.TopKV2(input=x, k=20).indices, want[:20])


@pytest.mark.parametrize("n", [0, 1, 2, 7, 64, 1000])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_places_in_sorted_rows(n, dtype):
    row = np.sort(R.randint(0, 50, n)).astype(dtype)
    values = R.randint(-2, 53, 203).astype(dtype)
    for side in ("left", "right"):
        np.testing.assert_array_equal(tf.searchsorted(row, values, side=side), np.searchsorted(row, values, side))


@pytest.mark.parametrize("channels", [1, 3, 8, 19, 70])
@pytest.mark.parametrize("size,stride,padding", [(2, 2, "VALID"), (3, 1, "SAME"), (3, 2, "SAME")])
def test_pools(channels, size, stride, padding):
    x = floats(2, 9, 11, channels)
    out = [-(-n // stride) if padding == "SAME" else (n - size) // stride + 1 for n in (9, 11)]
    before = [max(0, (o - 1) * stride + size - n) // 2 if padding == "SAME" else 0 for o, n in zip(out, (9, 11))]
    most, mean = np.empty((2, *out, channels), "float32"), np.empty((2, *out, channels), "float32")
    for i in range(out[0]):
        for j in range(out[1]):
            a, b = i * stride - before[0], j * stride - before[1]
            window = x[:, max(a, 0) : a + size, max(b, 0) : b + size]
            most[:, i, j], mean[:, i, j] = window.max((1, 2)), window.mean((1, 2))
    np.testing.assert_array_equal(tf.nn.max_pool2d(x, size, stride, padding), most)
    np.testing.assert_allclose(tf.nn.avg_pool2d(x, size, stride, padding), mean, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("depth,radius", [(5, 1), (16, 5), (40, 7), (70, 40), (3, 100)])
def test_neighbourhoods_of_response_normalisation(depth, radius):
    x = floats(1, 13, 11, depth).astype("float64")
    total = np.stack([(x[..., max(0, j - radius) : j + radius + 1] ** 2).sum(-1) for j in range(depth)], -1)
    for beta in (0.5, 0.75, 1.0, 0.3):
        want = x * (1.5 + 0.2 * total) ** -beta
        got = tf.nn.local_response_normalization(x.astype("float32"), radius, 1.5, 0.2, beta)
        np.testing.assert_allclose(got, want, rtol=2e-5)


def test_colours():
    import colorsys

    rgb = floats(5, 31, 3, low=0, high=1)
    rgb[0, :4] = [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 0]]
    each = lambda f, pixels: np.array([f(*map(float, p)) for p in pixels.reshape(-1, 3)]).reshape(pixels.shape)
    hsv = each(colorsys.rgb_to_hsv, rgb)
    np.testing.assert_allclose(tf.image.rgb_to_hsv(rgb), hsv, atol=1e-6)
    np.testing.assert_allclose(tf.image.hsv_to_rgb(hsv.astype("float32")), rgb, atol=1e-6)
    less = each(colorsys.hsv_to_rgb, hsv * [1, 0.5, 1])
    np.testing.assert_allclose(tf.raw_ops.AdjustSaturation(images=rgb, scale=0.5), less, atol=2e-6)
    for delta in (0.2, -0.7, 1.0):
        turned = each(colorsys.hsv_to_rgb, np.stack([(hsv[..., 0] + delta) % 1, hsv[..., 1], hsv[..., 2]], -1))
        np.testing.assert_allclose(tf.raw_ops.AdjustHue(images=rgb, delta=delta), turned, atol=2e-6)


@pytest.mark.parametrize("depth", [1, 3, 4, 9])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_crops(depth, method):
    image = floats(2, 20, 30, depth)
    boxes, of = np.array([[0.1, 0.2, 0.7, 0.9], [0.9, 0, -0.2, 1.3]], "float32"), np.array([1, 0], "int32")
    got = tf.image.crop_and_resize(image, boxes, of, [7, 11], method, extrapolation_value=-5.0).numpy()
    for k, (y1, x1, y2, x2) in enumerate(boxes):
        for i in range(7):
            for j in range(11):
                y, x = y1 * 19 + i * (y2 - y1) * 19 / 6, x1 * 29 + j * (x2 - x1) * 29 / 10
                if not (0 <= y <= 19 and 0 <= x <= 29):
                    np.testing.assert_array_equal(got[k, i, j], -5.0)
                elif method == "nearest" and abs(y % 1 - 0.5) > 1e-3 and abs(x % 1 - 0.5) > 1e-3:
                    np.testing.assert_array_equal(got[k, i, j], image[of[k], round(float(y)), round(float(x))])
                elif method == "bilinear":
                    a, b = int(y), int(x)
                    c, d = min(a + 1, 19), min(b + 1, 29)
                    p = image[of[k]]
                    top, bottom = p[a, b] + (p[a, d] - p[a, b]) * (x - b), p[c, b] + (p[c, d] - p[c, b]) * (x - b)
                    np.testing.assert_allclose(got[k, i, j], top + (bottom - top) * (y - a), rtol=1e-3, atol=1e-3)


def png(pixels, filters):
    """A PNG file of 8 or 16 bits, whose rows go through the filters in turn."""
    import struct
    import zlib

    h, w, channels = pixels.shape
    wide = pixels.dtype == np.uint16
    step = channels * (2 if wide else 1)
    lines, up = b"", np.zeros(w * step, int)
    for y in range(h):
        row = np.frombuffer(pixels[y].astype(">u2" if wide else "u1").tobytes(), "u1").astype(int)
        left = np.concatenate([np.zeros(step, int), row[:-step]])
        above = np.concatenate([np.zeros(step, int), up[:-step]])
        nearest = [
            min((abs(u - c), 0, a), (abs(a - c), 1, u), (abs(a + u - 2 * c), 2, c))[2]
            for a, u, c in zip(left, up, above)
        ]
        kind = filters[y % len(filters)]
        guess = (0, left, up, (left + up) // 2, np.array(nearest))[kind]
        lines += bytes([kind]) + ((row - guess) % 256).astype("u1").tobytes()
        up = row
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", w, h, 16 if wide else 8, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*p) for p in parts)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_png_filters(channels, dtype):
    pixels = (
        np.add.outer(np.arange(37), np.arange(29))[..., None] * [5, 3, 7, 11][:channels]
        + R.randint(0, 9, (37, 29, channels))
    ) * 7
    pixels = pixels.astype(dtype)
    np.testing.assert_array_equal(tf.io.decode_png(png(pixels, [0, 1, 2, 3, 4, 4, 1]), dtype=dtype), pixels)
    np.testing.assert_array_equal(tf.io.decode_png(tf.io.encode_png(pixels), dtype=dtype), pixels)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_png(png(pixels, [4])[:-40])


def test_png_of_many_rows():
    pixels = R.randint(0, 256, (900, 500, 3)).astype("uint8")  # more bytes than are decompressed at once
    np.testing.assert_array_equal(tf.io.decode_png(tf.io.encode_png(pixels)), pixels)


def test_records_of_all_lengths(tmp_path):
    sizes = [0, 1, 4000, 300_000, 5, 1_000_001, 17_000_000, 3]
    records = [bytes([i + 1]) * n for i, n in enumerate(sizes)]
    name = str(tmp_path / "records")
    with tf.io.TFRecordWriter(name) as writer:
        for r in records:
            writer.write(r)
    assert list(tf.data.TFRecordDataset(name).as_numpy_iterator()) == records
    data = bytearray(open(name, "rb").read())
    data[5000] ^= 1  # inside the fourth record
    (tmp_path / "bad").write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at"):
        list(tf.data.TFRecordDataset(str(tmp_path / "bad")))
    (tmp_path / "cut").write_bytes(data[:4500])
    with pytest.raises(tf.errors.DataLossError, match="truncated record at"):
        list(tf.data.TFRecordDataset(str(tmp_path / "cut")))


def test_examples_with_features_in_any_order():
    def example(**features):
        of = lambda v: tf.train.Feature(float_list=tf.train.FloatList(value=v))
        return tf.train.Example(features=tf.train.Features(feature={k: of(v) for k, v in features.items()}))

    rows = [example(a=[i, 2.0], b=[3.0 * i]) if i % 3 else example(b=[3.0 * i], z=[1.0]) for i in range(20)]
    data = [r.SerializeToString() for r in rows]
    got = tf.io.parse_example(
        data, {"a": tf.io.FixedLenFeature([2], tf.float32, [7.0, 8.0]), "b": tf.io.FixedLenFeature([], tf.float32)}
    )
    np.testing.assert_array_equal(got["a"], [[i, 2.0] if i % 3 else [7.0, 8.0] for i in range(20)])
    np.testing.assert_array_equal(got["b"], [3.0 * i for i in range(20)])
    got = tf.io.parse_example(data[1:3], {"a": tf.io.FixedLenFeature([2], tf.float32)})
    np.testing.assert_array_equal(got["a"], [[1.0, 2.0], [2.0, 2.0]])


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "int64", "complex128"])
def test_shuffled_vectors(dtype):
    x = np.arange(5003).astype(dtype)
    got = tf.random.experimental.stateless_shuffle(x, [3, 4]).numpy()
    rows = tf.random.experimental.stateless_shuffle(np.arange(10006).reshape(5003, 2), [3, 4]).numpy()
    assert sorted(rows[:, 0]) == list(range(0, 10006, 2))  # a permutation, and the same one for vectors
    np.testing.assert_array_equal(got, x[rows[:, 0] // 2])


def test_rows_of_ragged_values():
    lengths = R.randint(0, 9, 700)
    ragged = tf.RaggedTensor.from_row_lengths(np.arange(lengths.sum()), lengths)
    sparse = ragged.to_sparse()
    want = [(r, k) for r, n in enumerate(lengths) for k in range(n)]
    np.testing.assert_array_equal(sparse.indices, want)
    np.testing.assert_array_equal(sparse.dense_shape, [700, lengths.max()])
