"""Variables: creation, printing, as tensors, assignment, copies, names, trainable, placement."""
import tensorflow as tf

my_tensor = tf.constant([[1.0, 2.0], [3.0, 4.0]])
my_variable = tf.Variable(my_tensor)
bool_variable = tf.Variable([False, False, False, True])
complex_variable = tf.Variable([5 + 4j, 6 + 1j])
print(my_variable)
print(repr(bool_variable))
print(complex_variable)
print("Shape:", my_variable.shape)
print("DType:", my_variable.dtype)
print("As NumPy:", my_variable.numpy())
print("Viewed as a tensor:", tf.convert_to_tensor(my_variable))
print("\nIndex of highest value:", tf.math.argmax(my_variable))
print("\nCopying and reshaping: ", tf.reshape(my_variable, [1, 4]))

a = tf.Variable([2.0, 3.0])
print(a.assign([1, 2]))
try:
    a.assign([1.0, 2.0, 3.0])
except Exception as e:
    print(f"{type(e).__name__}: {e}")
a = tf.Variable([2.0, 3.0])
b = tf.Variable(a)
a.assign([5, 6])
print(a.numpy(), b.numpy())
print(a.assign_add([2, 3]).numpy())
print(a.assign_sub([7, 9]).numpy())

a = tf.Variable(my_tensor, name="Mark")
b = tf.Variable(my_tensor + 1, name="Mark")
print(a == b, a.name, b.name)
step_counter = tf.Variable(1, trainable=False)
print(step_counter.trainable, a.trainable, step_counter)

with tf.device("CPU:0"):
    a = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    c = tf.matmul(a, b)
print(c)
print(a.device, c.device)
print(a[0], a[:, 1], a[1, 2].numpy(), len(a.shape))
print(a + 1, 2 * a, -a, a @ b, a > 3, abs(a - 4), a ** 2, a / 2)
print(a.value(), a.read_value().shape, tf.identity(a).shape, a.dtype.name, isinstance(a, tf.Variable))
print(tf.Variable("text"), tf.Variable(3), tf.Variable(1.0, dtype=tf.float64), tf.Variable([1, 2], dtype=tf.float32))
