"""Fourier transforms and factorisations on the GPU beside numpy: by NVIDIA's libraries, and (WEFT_CUFFT_LIBRARY and WEFT_CUSOLVER_LIBRARY name no file) by generated kernels.
Prints a line for each call: error, microseconds."""

import sys
import time

import numpy as np
import weft as tf

rng = np.random.default_rng(1)
worst = 0


def timed(f):
    f()
    f()
    best = 1e9
    for _ in range(5):
        start = time.perf_counter()
        y = f()
        (y[0] if isinstance(y, (tuple, list)) else y).numpy()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def check(name, f, want, tolerance):
    global worst
    try:
        got = f()
        got = got if isinstance(got, (tuple, list)) else (got,)
        e = max(
            float(np.abs(np.asarray(g.numpy()) - w).max() / max(np.abs(w).max(), 1e-30))
            for g, w in zip(got, want)
            if w is not None
        )
        print(f"{name:34} {'ok ' if e <= tolerance else 'BAD'} {e:8.1e} {timed(f):9.0f} us")
        worst += e > tolerance
    except Exception as e:
        print(f"{name:34} FAILED {str(e)[:160]}")
        worst += 1


def complex_numbers(shape, dtype="complex64"):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


with tf.device("/device:GPU:0"):
    for shape in ((1, 16), (8, 1000), (4, 1021), (2, 1 << 16)):
        for dtype, t in (("complex64", 3e-6), ("complex128", 1e-13)):
            x = complex_numbers(shape, dtype)
            check(f"FFT {shape} {dtype}", lambda: tf.signal.fft(tf.constant(x)), [np.fft.fft(x)], t)
    x = complex_numbers((3, 20, 30))
    check("IFFT2D", lambda: tf.signal.ifft2d(tf.constant(x)), [np.fft.ifft2(x)], 3e-6)
    x = complex_numbers((2, 8, 9, 10))
    check("FFT3D", lambda: tf.signal.fft3d(tf.constant(x)), [np.fft.fftn(x, axes=(1, 2, 3))], 3e-6)
    check("IFFT3D", lambda: tf.signal.ifft3d(tf.constant(x)), [np.fft.ifftn(x, axes=(1, 2, 3))], 3e-6)
    r = rng.standard_normal((5, 33, 31)).astype("f")
    for n in (31, 30, 17):
        check(f"RFFT length {n}", lambda: tf.signal.rfft(tf.constant(r), [n]), [np.fft.rfft(r[..., :n])], 3e-6)
    check("RFFT2D", lambda: tf.signal.rfft2d(tf.constant(r), [20, 31]), [np.fft.rfft2(r[:, :20, :])], 3e-6)
    h = np.fft.rfft2(r)
    check(
        "IRFFT2D of a real one, odd", lambda: tf.signal.irfft2d(tf.constant(h.astype("complex64")), [33, 31]), [r], 3e-6
    )
    z = complex_numbers((3, 7, 9))  # no transform of real numbers: what is not symmetric is left out
    check("IRFFT length 16", lambda: tf.signal.irfft(tf.constant(z), [16]), [np.fft.irfft(z, 16)], 3e-6)
    check(
        "IRFFT2D not symmetric",
        lambda: tf.signal.irfft2d(tf.constant(z), [7, 16]),
        [np.fft.irfft(np.fft.ifft(z, axis=1), 16)],
        3e-6,
    )
    z3 = complex_numbers((2, 4, 5, 4))
    want = np.fft.irfft(np.fft.ifft2(z3, axes=(1, 2)), 6)
    check("IRFFT3D not symmetric", lambda: tf.signal.irfft3d(tf.constant(z3), [4, 5, 6]), [want], 3e-6)

    for n, batch in ((3, 5), (16, 4), (100, 2), (512, 1)):
        for dtype, t in (("f", 2e-4), ("d", 1e-11)):
            a = rng.standard_normal((batch, n, n)).astype(dtype)
            spd = (a @ a.transpose(0, 2, 1) + n * np.eye(n)).astype(dtype)
            b = rng.standard_normal((batch, n, 3)).astype(dtype)
            name = f"{n} x {n} {dtype} {batch}"
            check("Cholesky " + name, lambda: tf.linalg.cholesky(tf.constant(spd)), [np.linalg.cholesky(spd)], t)
            check("MatrixInverse " + name, lambda: tf.linalg.inv(tf.constant(spd)), [np.linalg.inv(spd.astype("d"))], t)
            check(
                "MatrixSolve " + name,
                lambda: tf.linalg.solve(tf.constant(a), tf.constant(b)),
                [np.linalg.solve(a.astype("d"), b)],
                10 * t,
            )
            check(
                "  adjoint",
                lambda: tf.linalg.solve(tf.constant(a), tf.constant(b), adjoint=True),
                [np.linalg.solve(a.astype("d").transpose(0, 2, 1), b)],
                10 * t,
            )
            low = np.linalg.cholesky(spd)
            for lower in (True, False):
                for adjoint in (False, True):
                    m = low if lower else low.transpose(0, 2, 1)
                    whole = m.transpose(0, 2, 1) if adjoint else m
                    check(
                        f"TriangularSolve {int(lower)}{int(adjoint)} {name}",
                        lambda: tf.linalg.triangular_solve(
                            tf.constant(np.ascontiguousarray(m)), tf.constant(b), lower=lower, adjoint=adjoint
                        ),
                        [np.linalg.solve(whole.astype("d"), b)],
                        t,
                    )
            sign, log = np.linalg.slogdet(a.astype("d"))
            check("LogMatrixDeterminant " + name, lambda: tf.linalg.slogdet(tf.constant(a)), [sign, log], t)
            q, rr = np.linalg.qr(a)
            check("Qr " + name, lambda: tf.linalg.qr(tf.constant(a)), [q, rr], 10 * t)
            w = np.linalg.eigvalsh(spd)
            check("SelfAdjointEigV2 " + name, lambda: tf.linalg.eigh(tf.constant(spd)), [w, None], t)
            v = tf.linalg.eigh(tf.constant(spd))[1].numpy()
            check("  its vectors", lambda: tf.constant(spd @ v), [v * w[:, None, :]], 10 * t)
    for m, n in ((7, 4), (4, 7), (5, 5), (200, 60), (60, 200)):
        a = rng.standard_normal((2, m, n)).astype("f")
        for full in (False, True):
            s = np.linalg.svd(a, compute_uv=False)
            check(
                f"Svd {m} x {n} full {full}",
                lambda: tf.linalg.svd(tf.constant(a), full_matrices=full),
                [s, None, None],
                1e-4,
            )
            k = min(m, n)
            s, u, v = (x.numpy() for x in tf.linalg.svd(tf.constant(a), full_matrices=full))
            print(
                "   u s v' - a",
                np.abs((u[..., :k] * s[:, None, :]) @ v[..., :k].transpose(0, 2, 1) - a).max(),
                "u'u - 1",
                np.abs(u.transpose(0, 2, 1) @ u - np.eye(u.shape[-1])).max(),
                "v'v - 1",
                np.abs(v.transpose(0, 2, 1) @ v - np.eye(v.shape[-1])).max(),
            )
            q, rr = (x.numpy() for x in tf.linalg.qr(tf.constant(a), full_matrices=full))
            print(
                "   Qr: q r - a",
                np.abs(q @ rr - a).max(),
                "q'q - 1",
                np.abs(q.transpose(0, 2, 1) @ q - np.eye(q.shape[-1])).max(),
                "below",
                np.abs(np.tril(rr, -1)).max(),
            )
        check(
            f"Svd {m} x {n} values alone",
            lambda: tf.linalg.svd(tf.constant(a), compute_uv=False),
            [np.linalg.svd(a, compute_uv=False)],
            1e-4,
        )
    for text, f in (
        ("Cholesky", lambda: tf.linalg.cholesky(tf.constant([[1.0, 2.0], [2.0, 1.0]])).numpy()),
        ("solve", lambda: tf.linalg.solve(tf.constant([[1.0, 2.0], [2.0, 4.0]]), tf.ones([2, 1])).numpy()),
        ("inverse", lambda: tf.linalg.inv(tf.constant([[1.0, 2.0], [2.0, 4.0]])).numpy()),
    ):
        try:
            f()
            print("no error:", text)
            worst += 1
        except tf.errors.InvalidArgumentError as e:
            print("error as it should be:", str(e)[:110].replace("\n", " "))
    print("after errors:", float((tf.ones([3]) + 1)[0]))
print("libraries:", "all right" if not worst else f"{worst} WRONG")
sys.exit(worst != 0)
