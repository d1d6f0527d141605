"""A Kalman filter for position and speed: matrices, Joseph form, innovations, batch by map_fn."""
import tensorflow as tf

dt = 1.0
F = tf.constant([[1.0, dt], [0.0, 1.0]])
H = tf.constant([[1.0, 0.0]])
Q = tf.constant([[0.01, 0.0], [0.0, 0.01]])
R = tf.constant([[0.5]])


@tf.function
def filter_all(measurements):
    x, P = tf.zeros([2, 1]), tf.eye(2) * 10.0
    out = tf.TensorArray(tf.float32, size=tf.shape(measurements)[0], element_shape=[2])
    for i in tf.range(tf.shape(measurements)[0]):
        x, P = F @ x, F @ P @ tf.transpose(F) + Q
        S = H @ P @ tf.transpose(H) + R
        K = P @ tf.transpose(H) @ tf.linalg.inv(S)
        x = x + K @ (tf.reshape(measurements[i], [1, 1]) - H @ x)
        I = tf.eye(2) - K @ H
        P = I @ P @ tf.transpose(I) + K @ R @ tf.transpose(K)
        out = out.write(i, tf.squeeze(x, 1))
    return out.stack(), P


truth = tf.range(10.0) * 0.7
noise = tf.random.stateless_normal([10], [5, 5]) * 0.5
estimates, P = filter_all(truth + noise)
print(estimates.numpy().round(3))
print(P.numpy().round(4))
print(f"{tf.reduce_mean((estimates[:, 0] - truth) ** 2):.4f} {tf.reduce_mean(noise**2):.4f}")
batch = tf.stack([truth + noise, truth - noise])
print(tf.map_fn(lambda m: filter_all(m)[0][-1], batch).numpy().round(4))
with tf.GradientTape() as tape:
    tape.watch(noise)
    end = filter_all(truth + noise)[0][-1, 0]
print(tape.gradient(end, noise).numpy().round(4))
