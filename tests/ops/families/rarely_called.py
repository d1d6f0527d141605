"""Ops that no other family or recorded program calls: old names of linear algebra, codecs, files, in-place updates, formats."""

import numpy as np
import tensorflow as tf

F, D, I, L = np.float32, np.float64, np.int32, np.int64
VOCAB = "tests/golden/state/vocab.txt"


def strings(*values):
    return np.array([v.encode() for v in values], dtype=object)


def linear_algebra(call, random):
    def spd(n, *batch):
        a = random.normal(size=(*batch, n, n))
        return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)

    for t in (F, D):
        call("SelfAdjointEigV2", [spd(3).astype(t)], {"compute_v": False}, skip=[1])
        call(
            "Eig",
            [np.triu(random.normal(size=(3, 3)), 1).astype(t) + np.diag([1, 2, 3]).astype(t)],
            {"Tout": tf.complex64 if t is F else tf.complex128, "compute_v": False},
            skip=[1],
        )
    call("Eig", [np.zeros((0, 2, 2), F)], {"Tout": tf.complex64, "compute_v": False}, skip=[1])
    call("Eig", [np.diag([3, 1 + 2j, -1j]).astype(np.complex64)], {"Tout": tf.complex64, "compute_v": False}, skip=[1])


def removed(call, random):
    """Ops that later versions of graphs do not have."""
    old = {"producer": 7}
    spd = lambda n, *batch: (lambda a: a @ np.swapaxes(a, -1, -2) + n * np.eye(n))(random.normal(size=(*batch, n, n)))
    for t in (F, D):
        a, b, m = spd(3, 2).astype(t), random.normal(size=(2, 3, 2)).astype(t), random.normal(size=(2, 3, 4)).astype(t)
        lower = np.linalg.cholesky(a).astype(t)
        call("BatchCholesky", [a], **old)
        call("BatchCholeskyGrad", [lower, np.tril(random.normal(size=(2, 3, 3))).astype(t)], **old)
        call("BatchMatrixDeterminant", [a], **old)
        for adjoint in (False, True):
            call("BatchMatrixInverse", [a], {"adjoint": adjoint}, **old)
            call("BatchMatrixSolve", [a, b], {"adjoint": adjoint}, **old)
            call("BatchMatrixTriangularSolve", [lower, b], {"lower": True, "adjoint": adjoint}, **old)
        for fast in (False, True):
            call("BatchMatrixSolveLs", [m, random.normal(size=(2, 3, 2)).astype(t), D(0.5)], {"fast": fast}, **old)
        call("BatchSelfAdjointEigV2", [a], {"compute_v": False}, skip=[1], **old)
        call("BatchSvd", [m], {"compute_uv": False, "full_matrices": False}, skip=[1, 2], **old)
        call("BatchSelfAdjointEig", [np.stack([np.diag([1, 2]), np.diag([3, 5])]).astype(t)], **old)
        call("SelfAdjointEig", [np.diag([1, 2, 4]).astype(t)], **old)
        call("BatchMatrixBandPart", [m, L(1), L(0)], **old)
        call("BatchMatrixDiag", [random.normal(size=(2, 3)).astype(t)], **old)
        call("BatchMatrixDiagPart", [a], **old)
        call("BatchMatrixSetDiag", [a, np.ones((2, 3), t)], **old)
        for attrs in (
            {"signed_input": True},
            {"range_given": True, "input_min": -1.0, "input_max": 2.0, "num_bits": 4},
            {"signed_input": False, "range_given": True, "input_max": 3.0},
        ):
            call("QuantizeAndDequantize", [random.normal(size=(3, 4)).astype(t)], attrs, **old)
    call(
        "AudioSummary",
        [np.array(b"tag", object), random.uniform(-1, 1, (2, 10, 2)).astype(F)],
        {"sample_rate": 8000.0, "max_outputs": 1},
        **old,
    )
    call(
        "RandomCrop",
        [np.arange(48, dtype=np.uint8).reshape(4, 4, 3), np.array([2, 3], L)],
        {"seed": 1, "seed2": 2},
        **old,
    )
    call("RandomPoisson", [np.array([0], I), F([3])], {"seed": 1, "seed2": 2}, producer=20)
    call("RandomPoisson", [np.array([2, 3], I), D([0.5, 20])], {"seed": 1, "seed2": 2}, producer=20)


def images(call, random):
    gray, rgb, rgba = (random.integers(0, 256, (5, 7, n)).astype(np.uint8) for n in (1, 3, 4))
    for x in (gray, rgb, rgba, random.integers(0, 256, (4, 4, 2)).astype(np.uint8)):
        png = call("EncodePng", [x], skip=[0])[0]  # zlib's bytes differ from build to build: what they hold is compared
        call("DecodePng", [png], {"channels": 0})
        call("EncodePng", [x], {"compression": 0}, skip=[0])
    for x in (gray, rgb):
        for quality in (10, 95):
            jpeg = call("EncodeJpeg", [x], {"quality": quality, "chroma_downsampling": True}, skip=[0])[0]
            call("DecodeJpeg", [jpeg], {"channels": 0, "dct_method": "INTEGER_ACCURATE"})
        call("EncodeJpegVariableQuality", [x, I(80)], skip=[0])


def various(call, random):
    call("ComputeAccidentalHits", [np.array([[1, 2], [3, 4]], L), np.array([4, 2, 9, 1], L)], {"num_true": 2})
    call("ComputeAccidentalHits", [np.array([[7], [3]], L), np.array([4, 2], L)], {"num_true": 1})
    for t in (F, I, D):
        x = np.arange(12).astype(t).reshape(4, 3)
        v = np.ones((2, 3), t) * 5
        call("InplaceUpdate", [x, np.array([0, 2], I), v])
        call("InplaceSub", [x, np.array([3, 3], I), v])
        call("InplaceAdd", [x, np.array([-1], I), v[:1]])
    call(
        "StringFormat",
        [[np.array([1, 2, 3], I), F(2.5), strings("a", "b")]],
        {"template": "x=%s y=%s z=%s", "placeholder": "%s", "summarize": 2},
    )
    call(
        "StringFormat",
        [[np.arange(20, dtype=L).reshape(4, 5)]],
        {"template": "{}", "placeholder": "{}", "summarize": 1},
    )
    call("ReadFile", [np.array(VOCAB.encode(), dtype=object)])
    call("MatchingFiles", [strings("tests/golden/state/voc*.txt")])
    call("MatchingFiles", [strings("tests/golden/state/col*.txt", "tests/golden/state/nothing*")])


def record(call):
    random = np.random.default_rng(5)
    for part in (linear_algebra, removed, images, various):
        part(call, random)
