"""Linear algebra, Fourier transforms and images."""

import numpy as np

from op_cases.base import case, floats, i32, image, raw


def matrices(n, side=16):
    side = side if n >= side * side else 8
    return max(1, n // 8 // side // side), side, side


@case("Cholesky", "MatrixInverse", "MatrixDeterminant", "Qr", "Svd", "SelfAdjointEigV2", "Lu")
def _matrices(tf, n, op, kind):
    m = floats(*matrices(n))
    if op in ("Cholesky", "SelfAdjointEigV2"):
        m = np.matmul(m, m.transpose(0, 2, 1)) + 16 * np.eye(m.shape[-1], dtype="float32")
    return raw(tf, op, input=m)


@case("MatrixSolve", "MatrixTriangularSolve")
def _solve(tf, n, op, kind):
    m = floats(*matrices(n)) + 32 * np.eye(matrices(n)[1], dtype="float32")
    return raw(tf, op, matrix=m, rhs=floats(*matrices(n)))


@case("FFT", "IFFT", "FFT2D")
def _fft(tf, n, op, kind):
    width = min(n, 1024)
    shape = (n // width, width) if op != "FFT2D" else (max(1, n // 16384), *((8, 8) if n < 16384 else (128, 128)))
    return raw(tf, op, input=(floats(*shape) + 1j * floats(*shape)).astype("complex64"))


@case("FFT/long", "FFT/odd")
def _fft_long(tf, n, op, kind):
    shape = (n,) if kind == "long" else (max(1, n // 1000), min(n, 1000))
    return raw(tf, op, input=(floats(*shape) + 1j * floats(*shape)).astype("complex64"))


@case("RFFT")
def _rfft(tf, n, op, kind):
    width = min(n, 1024)
    return raw(tf, op, input=floats(n // width, width), fft_length=i32(width))


@case("IRFFT")
def _irfft(tf, n, op, kind):
    width = min(n, 1024)
    shape = (n // width, width // 2 + 1)
    return raw(tf, op, input=(floats(*shape) + 1j * floats(*shape)).astype("complex64"), fft_length=i32(width))


@case("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea")
def _resize(tf, n, op, kind):
    b, h, w, _ = image(n, 4)
    return raw(tf, op, images=floats(b, h, w, 4), size=i32(max(1, h * 3 // 4), max(1, w * 3 // 4)))


@case("AdjustContrastv2", "RGBToHSV", "HSVToRGB", "AdjustHue", "AdjustSaturation")
def _color(tf, n, op, kind):
    b, h, w, _ = image(n, 4)
    pixels = floats(b, h, w, 3, low=0, high=1)
    if op == "AdjustContrastv2":
        return raw(tf, op, images=pixels, contrast_factor=np.float32(1.5).reshape(()))
    if op == "AdjustHue":
        return raw(tf, op, images=pixels, delta=np.float32(0.2).reshape(()))
    if op == "AdjustSaturation":
        return raw(tf, op, images=pixels, scale=np.float32(0.5).reshape(()))
    return raw(tf, op, images=pixels)


@case("CropAndResize")
def _crop(tf, n, op, kind):
    b, h, w, _ = image(n, 4)
    boxes = np.tile(np.array([[0.1, 0.1, 0.8, 0.9]], "float32"), (b, 1))
    return raw(tf, op, image=floats(b, h, w, 4), boxes=boxes, box_ind=np.arange(b, dtype="int32"), crop_size=i32(h, w))


@case("DecodePng", "DecodeJpeg")
def _decode(tf, n, op, kind):
    side = max(2, int((n / 3) ** 0.5))
    y, x = np.mgrid[0:side, 0:side]
    picture = np.stack([x * 255 // side, y * 255 // side, (x ^ y) & 255], 2).astype("uint8")
    data = tf.io.encode_png(picture) if op == "DecodePng" else tf.io.encode_jpeg(picture)
    return raw(tf, op, contents=np.array(data.numpy(), object))


@case("EncodePng", "EncodeJpeg")
def _encode(tf, n, op, kind):
    side = max(2, int((n / 3) ** 0.5))
    y, x = np.mgrid[0:side, 0:side]
    return raw(tf, op, image=np.stack([x * 255 // side, y * 255 // side, (x ^ y) & 255], 2).astype("uint8"))
