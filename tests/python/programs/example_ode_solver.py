"""Runge-Kutta for a pendulum and predator-prey, in a tf loop with a TensorArray, differentiated through time."""
import tensorflow as tf


def rk4(f, y, dt):
    k1 = f(y)
    k2 = f(y + 0.5 * dt * k1)
    k3 = f(y + 0.5 * dt * k2)
    k4 = f(y + dt * k3)
    return y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def pendulum(y):
    return tf.stack([y[1], -9.81 * tf.sin(y[0])])


@tf.function
def solve(y0, dt, steps):
    path = tf.TensorArray(tf.float64, size=steps + 1, element_shape=[2])
    y = y0
    path = path.write(0, y)
    for i in tf.range(steps):
        y = rk4(pendulum, y, dt)
        path = path.write(i + 1, y)
    return path.stack()


y0 = tf.constant([0.5, 0.0], tf.float64)
dt = tf.constant(0.05, tf.float64)
path = solve(y0, dt, tf.constant(20))
print(path.shape)
print(path[::5].numpy())
energy = 0.5 * path[:, 1] ** 2 - 9.81 * tf.cos(path[:, 0])
print(tf.reduce_max(tf.abs(energy - energy[0])).numpy() < 1e-3)
with tf.GradientTape() as tape:
    tape.watch(y0)
    end = solve(y0, dt, tf.constant(10))[-1, 0]
print(end.numpy(), tape.gradient(end, y0).numpy())


def lotka(y, a=1.1, b=0.4, c=0.1, d=0.4):
    return tf.stack([a * y[0] - b * y[0] * y[1], c * y[0] * y[1] - d * y[1]])


state = tf.constant([10.0, 10.0])
for i in range(40):
    state = rk4(lotka, state, 0.1)
    if i % 10 == 9:
        print(i, state.numpy())
