"""Clustering and stochastic dual coordinate ascent. Examples share no features: TensorFlow takes them in an order of its own."""

import numpy as np

F, L = np.float32, np.int64
LOSSES = ["logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss"]


def sdca(call, op, loss, l1, l2, partitions, labels, weights, state, values=True, adaptive=False, dense=False):
    n = len(labels)
    attrs = {
        "loss_type": loss,
        "l1": l1,
        "l2": l2,
        "num_loss_partitions": partitions,
        "num_inner_iterations": 1,
        "adaptative" if op == "SdcaOptimizer" else "adaptive": adaptive,
    }
    rows = np.array([0, 0] + list(range(1, n)), L)
    features = np.arange(n + 1, dtype=L) * 10
    numbers = np.linspace(0.5, 2, n + 1).astype(F)
    column = [np.eye(n, dtype=F) * 1.5] if dense else []
    call(op, [[rows], [features], [numbers] if values else [], column, np.array(weights, F), np.array(labels, F),
              [features[::-1].copy()], [np.linspace(-1, 1, n + 1).astype(F)], [np.linspace(0.4, -0.6, n).astype(F)] if dense else [],
              np.array(state, F)], attrs)  # fmt: skip


def record(call):
    r = np.random.RandomState(1)
    for n in (1, 2, 7, 40):
        for seed in (0, 1, -5, 2**40 + 3):
            call("KMC2ChainInitialization", [(r.rand(n) * 4).astype(F), np.array(seed, L)])
    # Points far from each other: sums of distances do not hang on the order in which they are added.
    points = (np.arange(36).reshape(12, 3) * np.array([1, 8, 64]) % 97).astype(F)
    for wanted in (1, 3, 12):
        for seed in (0, 7, -1):
            for retries in (0, 1, 5, -1):
                call(
                    "KmeansPlusPlusInitialization",
                    [points, np.array(wanted, L), np.array(seed, L), np.array(retries, L)],
                )
    call("KmeansPlusPlusInitialization", [np.ones([3, 2], F), np.array(2, L), np.array(1, L), np.array(0, L)])
    texts = [
        bytes((7 * i + j) % 251 for j in range(i))
        for i in list(range(0, 70)) + [100, 127, 128, 143, 144, 145, 200, 271, 272, 300, 1000]
    ]
    call("SdcaFprint", [np.array(texts, dtype=object)])
    call("SdcaFprint", [np.array([], dtype=object).reshape([0])])
    for op in ("SdcaOptimizer", "SdcaOptimizerV2"):
        for loss in LOSSES:
            zeros = np.zeros([3, 4])
            sdca(call, op, loss, 0.0, 1.0, 1, [0, 1, 1], [1, 2, 0.5], zeros)
            sdca(
                call,
                op,
                loss,
                0.2,
                2.0,
                3,
                [1, 0, 1],
                [1, 1, 3],
                [[0.1, 1, 1, 1], [0, 0, 0, 1], [0.9, 2, 3, 4]],
                values=False,
            )
            sdca(call, op, loss, 0.05, 0.5, 2, [1, 0], [1, 1], np.zeros([2, 4]), dense=True)
            sdca(call, op, loss, 0.1, 1.0, 1, [1], [2.5], np.zeros([1, 4]), adaptive=True, dense=True)
