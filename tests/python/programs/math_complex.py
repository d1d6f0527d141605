"""Complex numbers: parts, arithmetic, abs, angle, FFTs, gradients, printing."""
import tensorflow as tf

z = tf.constant([1 + 2j, -3.5 - 0.5j, 2j])
w = tf.complex([1.0, 2.0, 3.0], [0.5, 0.0, -1.0])
print(z, w, z.dtype, w.dtype)
print(tf.math.real(z), tf.math.imag(z), tf.math.conj(z), tf.abs(z), tf.math.angle(w))
w = tf.cast(w, tf.complex128)
print(z + w, z * w, z / w, z - 1, 2 * z, z**2, -z)
print(tf.exp(tf.constant(1j * 3.141592653589793)), tf.sqrt(tf.constant(-1 + 0j)), tf.math.log(tf.constant(1j)),
      tf.sin(tf.constant(1j)), tf.tanh(tf.constant(0.5j)))
print(tf.reduce_sum(z), tf.reduce_prod(z), tf.reduce_mean(z), tf.matmul(tf.reshape(z, [1, 3]), tf.reshape(w, [3, 1])),
      tf.linalg.adjoint(tf.reshape(z, [1, 3])))
print(tf.equal(z, w), z == z, tf.cast(z, tf.complex64), tf.cast([1, 2], tf.complex64), tf.math.reciprocal(z),
      tf.square(z))
print(tf.complex(1.0, tf.constant([2.0, 3.0])), tf.complex(tf.constant(1.0, tf.float64), tf.constant(0.0, tf.float64)))
print(tf.signal.fft(tf.constant([1, 2, 3, 4], tf.complex64)), tf.signal.ifft(tf.signal.fft(z)))
print(repr(z[0]), z.numpy().tolist(), complex(z[0].numpy()))
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    c = tf.complex(x, x**2)
    y = tf.reduce_sum(tf.abs(c) ** 2)
print(tape.gradient(y, x))
with tf.GradientTape() as tape:
    tape.watch(z)
    y = tf.reduce_sum(tf.math.real(z * z))
print(tape.gradient(y, z))
with tf.GradientTape() as tape:
    tape.watch(z)
    y = z * z
print(tape.gradient(y, z))
v = tf.Variable([1j])
v.assign_add([1 + 1j])
print(v)
for bad in (lambda: z > w, lambda: tf.maximum(z, w), lambda: tf.complex([1.0], tf.constant([1.0], tf.float64)),
            lambda: tf.complex(1, 2)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
