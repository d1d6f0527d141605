"""String tensors: scalars, vectors, unicode, split, numbers, bytes."""
import tensorflow as tf

scalar = tf.constant("Gray wolf")
print(scalar)
vector = tf.constant(["Gray wolf", "Quick brown fox", "Lazy dog"])
print(vector)
print(repr(vector))
print(tf.constant("🥳👍"))
print(tf.strings.split(scalar, sep=" "))
print(tf.strings.split(vector))
text = tf.constant("1 10 100")
print(tf.strings.to_number(tf.strings.split(text, " ")))
byte_strings = tf.strings.bytes_split(tf.constant("Duck"))
byte_ints = tf.io.decode_raw(tf.constant("Duck"), tf.uint8)
print("Byte strings:", byte_strings)
print("Bytes:", byte_ints)
unicode_bytes = tf.constant("アヒル 🦆")
print("Unicode bytes:", unicode_bytes)
print("Unicode chars:", tf.strings.unicode_split(unicode_bytes, "UTF-8"))
print("Unicode values:", tf.strings.unicode_decode(unicode_bytes, "UTF-8"))
print(scalar.numpy(), vector.numpy(), scalar.numpy().decode())
print(scalar + "s", vector + tf.constant(" !"))
print(scalar == "Gray wolf", vector == "Lazy dog")
print(tf.strings.length(vector), tf.strings.length(unicode_bytes), tf.strings.length(unicode_bytes, unit="UTF8_CHAR"))
print(tf.strings.join(["a", "b", "c"], separator="-"), tf.strings.join([vector, ["x", "y", "z"]]))
print(tf.constant([["a", "b\n"], ["c\t", "\x00d"]]))
print(tf.constant(["quote'", 'double"']))
print(tf.constant(b"\xff\xfe"))
print(tf.strings.as_string([1, 2, 3]), tf.as_string(3.5), tf.as_string([True, False]))
print([s.decode() for s in vector.numpy()])
try:
    tf.constant("a") + tf.constant(1)
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.strings.to_number("12x")
except Exception as e:
    print(type(e).__name__, e)
