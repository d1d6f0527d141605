"""PyTorch and JAX on the networks of train_step.cc: one step of training on 32 rows, forward, gradients and update.

train_peers.py torch|jax [THREADS]                      one line a case: NAME/train32 CONTENDER MICROSECONDS
train_peers.py torch|torch-compile|jax THREADS BATCH NAME/train NAME/serve ...     one of them alone, on these cases (bench/threads.py)
"""

import os
import sys
import time

side, threads = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
rows, wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 32, sys.argv[4:]
os.environ["OMP_NUM_THREADS"] = str(threads)
if threads == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
if side == "jax" and wanted:  # its pool has a thread for each processor that the process may use
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def report(name, who, step, kind="train"):
    for _ in range(4):
        step()
    start = time.perf_counter()
    step()
    runs, times = max(1, int(0.03 / (time.perf_counter() - start))), []
    for _ in range(11):
        start = time.perf_counter()
        for _ in range(runs):
            step()
        times.append((time.perf_counter() - start) / runs)
    print(f"{name}/{kind}{rows} {who} {sorted(times)[5] * 1e6:.1f}", flush=True)


def torch_side():
    import torch
    from torch import nn

    torch.set_num_threads(threads)
    compiled = side == "torch-compile"

    class LastOfLstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.head = nn.LSTM(28, 128, batch_first=True), nn.Linear(128, 10)

        def forward(self, x):
            return self.head(self.lstm(x)[0][:, -1])

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.between = nn.LayerNorm(64, eps=1e-3), nn.LayerNorm(64, eps=1e-3)
            self.qkv, self.out = nn.Linear(64, 3 * 64), nn.Linear(64, 64)
            self.wide, self.narrow = nn.Linear(64, 256), nn.Linear(256, 64)

        def forward(self, x):
            b, t, _ = x.shape
            q, k, v = (z.view(b, t, 4, 16).transpose(1, 2) for z in self.qkv(self.before(x)).chunk(3, -1))
            x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, 64))
            return x + self.narrow(nn.functional.gelu(self.wide(self.between(x))))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks, self.head = nn.Sequential(Block(), Block()), nn.Linear(64, 10)

        def forward(self, x):
            return self.head(self.blocks(x).mean(1))

    conv = lambda i, o: [nn.Conv2d(i, o, 3, padding="same"), nn.ReLU(), nn.MaxPool2d(2)]
    norm = lambda i, o, stride: [nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU()]
    nets = {
        "mlp": (nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)), (784,)),
        "cnn": (
            nn.Sequential(
                *conv(1, 32), *conv(32, 64), nn.Flatten(), nn.Linear(7 * 7 * 64, 128), nn.ReLU(), nn.Linear(128, 10)
            ),
            (1, 28, 28),
        ),
        "cnn_bn": (
            nn.Sequential(
                *norm(3, 16, 1),
                *norm(16, 32, 2),
                *norm(32, 32, 1),
                *norm(32, 64, 2),
                nn.AdaptiveAvgPool2d(1),
                nn.Flatten(),
                nn.Linear(64, 10),
            ),
            (3, 32, 32),
        ),
        "lstm": (LastOfLstm(), (28, 28)),
        "transformer": (Transformer(), (32, 64)),
    }
    y = torch.arange(rows) % 10
    for name, (net, shape) in nets.items():
        x = torch.randn(rows, *shape)
        if f"{name}/serve" in wanted:
            net.eval()
            with torch.inference_mode():
                model = torch.compile(net) if compiled else net
                report(name, "torch-compile" if compiled else "torch-eager", lambda: model(x), "serve")
            net.train()
        if f"{name}/train" not in wanted if wanted else name == "cnn_bn":
            continue
        optimizer = (
            torch.optim.SGD(net.parameters(), 0.1)
            if name == "mlp"
            else torch.optim.Adam(net.parameters(), 1e-3, fused=True)
        )
        for who, use in (("torch-eager", not compiled), ("torch-compile", compiled or not wanted)):
            if not use:
                continue
            model = torch.compile(net) if who == "torch-compile" else net

            def step():
                optimizer.zero_grad(set_to_none=True)
                nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()

            try:
                report(name, who, step)
            except Exception as error:
                print(f"{name} {who} failed: {str(error).splitlines()[0]}", file=sys.stderr)


def jax_side():
    import jax
    import jax.numpy as jnp

    lax, tree = jax.lax, jax.tree
    keys = iter(jax.random.split(jax.random.key(1), 100))
    weight = lambda *shape: jax.random.normal(next(keys), shape) * 0.05
    layer = lambda i, o: (weight(i, o), jnp.zeros(o))
    dense = lambda p, x: x @ p[0] + p[1]
    relu = jax.nn.relu

    def conv(w, x):
        y = relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def cnn(p, x):
        return dense(p[3], relu(dense(p[2], conv(p[1], conv(p[0], x)).reshape(rows, -1))))

    def cnn_bn(p, x):
        for (w, scale, offset), stride in zip(p[0], (1, 2, 1, 2)):
            x = lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
            x = relu((x - mean) * lax.rsqrt(variance + 1e-3) * scale + offset)
        return dense(p[1], x.mean((1, 2)))

    def lstm(p, x):
        def cell(state, row):
            h, c = state
            i, f, g, o = jnp.split(row + h @ p[1], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        steps = dense(p[0], x).swapaxes(0, 1)
        zero = jnp.zeros((rows, 128))
        return dense(p[2], lax.scan(cell, (zero, zero), steps)[0][0])

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-3)

    def transformer(p, x):
        for qkv, out, wide, narrow in p[0]:
            q, k, v = jnp.split(dense(qkv, norm(x)).reshape(rows, 32, 4, 48), 3, -1)
            x = x + dense(out, jax.nn.dot_product_attention(q, k, v).reshape(rows, 32, 64))
            x = x + dense(narrow, jax.nn.gelu(dense(wide, norm(x)), approximate=False))
        return dense(p[1], x.mean(1))

    norm_layer = lambda i, o: (weight(3, 3, i, o), jnp.ones(o), jnp.zeros(o))
    block = lambda: (layer(64, 192), layer(64, 64), layer(64, 256), layer(256, 64))
    nets = {
        "mlp": (lambda p, x: dense(p[1], relu(dense(p[0], x))), [layer(784, 128), layer(128, 10)], (784,)),
        "cnn": (cnn, [weight(3, 3, 1, 32), weight(3, 3, 32, 64), layer(3136, 128), layer(128, 10)], (28, 28, 1)),
        "cnn_bn": (
            cnn_bn,
            [[norm_layer(3, 16), norm_layer(16, 32), norm_layer(32, 32), norm_layer(32, 64)], layer(64, 10)],
            (32, 32, 3),
        ),
        "lstm": (lstm, [layer(28, 512), weight(128, 512), layer(128, 10)], (28, 28)),
        "transformer": (transformer, [[block(), block()], layer(64, 10)], (32, 64)),
    }
    y = jnp.arange(rows) % 10
    for name, (net, params, shape) in nets.items():
        x = weight(rows, *shape)
        if f"{name}/serve" in wanted:
            forward = jax.jit(net)
            report(name, "jax-jit", lambda: jax.block_until_ready(forward(params, x)), "serve")
        if f"{name}/train" not in wanted if wanted else name == "cnn_bn":
            continue

        def loss(p):
            return -jax.nn.log_softmax(net(p, x))[jnp.arange(rows), y].mean()

        def sgd(p, m, v, t):
            return tree.map(lambda p, g: p - 0.1 * g, p, jax.grad(loss)(p)), m, v, t

        def adam(p, m, v, t):
            g = jax.grad(loss)(p)
            m, v = tree.map(lambda m, g: m + 0.1 * (g - m), m, g), tree.map(lambda v, g: v + 0.001 * (g * g - v), v, g)
            rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            return tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7), p, m, v), m, v, t + 1

        update = jax.jit(sgd if name == "mlp" else adam, donate_argnums=(0, 1, 2))
        zeros = lambda: tree.map(jnp.zeros_like, params)
        state = [(params, zeros(), zeros(), jnp.float32(1))]

        def step():
            state[0] = update(*state[0])
            jax.block_until_ready(state[0])

        report(name, "jax-jit", step)


{"torch": torch_side, "torch-compile": torch_side, "jax": jax_side}[side]()
