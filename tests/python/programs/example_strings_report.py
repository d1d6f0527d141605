"""A report printed with formats from tensors: tables, alignments, numbers."""
import tensorflow as tf

names = tf.constant(["apple", "banana", "cherry"])
prices = tf.constant([1.25, 0.5, 12.0])
amounts = tf.constant([3, 12, 1])
totals = prices * tf.cast(amounts, tf.float32)
for n, p, a, t in zip(names, prices, amounts, totals):
    print(f"{n.numpy().decode():10s} {p.numpy():6.2f} x {a.numpy():3d} = {t.numpy():7.2f}")
print("total", tf.reduce_sum(totals).numpy())
print(tf.strings.join([names, tf.strings.as_string(prices, precision=2)], separator=": ").numpy())
print(tf.strings.format("totals: {}", totals).numpy().decode())
print("most expensive:", names[tf.argmax(prices)].numpy().decode())
print("sorted:", tf.gather(names, tf.argsort(totals, direction="DESCENDING")).numpy())
print("lengths:", tf.strings.length(names).numpy(), "initials:", tf.strings.substr(names, 0, 1).numpy())
widths = tf.reduce_max(tf.strings.length(names)).numpy()
print([n.numpy().decode().rjust(widths) for n in names])
csv = tf.strings.reduce_join(tf.stack([names, tf.strings.as_string(amounts)], axis=1), axis=1, separator=",")
print(csv.numpy())
fields = tf.io.decode_csv(csv, record_defaults=["", 0])
print(fields[0], fields[1])
print(tf.strings.regex_replace(names, "([aeiou])", "[\\1]").numpy(), tf.strings.upper(names)[1].numpy())
print("%s costs %.2f" % (names[0].numpy().decode(), prices[0]), "{:>8.3f}".format(totals[2].numpy()),
      str(amounts[1].numpy()))
print(f"{tf.reduce_mean(prices):.3f}", f"{amounts}", f"{prices!r}")
