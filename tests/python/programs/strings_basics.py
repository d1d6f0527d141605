"""tf.strings: split, join, substr, case, regex, formats, numbers, lengths, strip, reduce_join, hash, base64."""
import tensorflow as tf

s = tf.constant(["Hello World", "foo bar baz", "", "  padded "])
print(tf.strings.split(s), tf.strings.split(s, "o", maxsplit=1), tf.strings.split("a,b,,c", ","))
print(tf.strings.lower(s), tf.strings.upper("straße", encoding="utf-8"), tf.strings.strip(s))
print(tf.strings.substr(["abcdef", "uvwxyz"], 1, 3), tf.strings.substr("héllo", 1, 2, unit="UTF8_CHAR"),
      tf.strings.substr(["abc", "wxyz"], [-2, 0], [1, 2]))
print(tf.strings.length(s), tf.strings.join([s, s[::-1]], separator="|"), tf.strings.reduce_join(s),
      tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=0, keepdims=True))
print(tf.strings.regex_replace(s, r"[aeiou]", "*"), tf.strings.regex_replace("aaa", "a", "b", replace_global=False),
      tf.strings.regex_full_match(["abc123", "abc"], r"[a-z]+\d+"))
print(tf.strings.to_number(["1.5", "-2e3"]), tf.strings.to_number(["7", "-8"], out_type=tf.int32),
      tf.strings.as_string([1.5, 2.25], precision=1), tf.strings.as_string([3, 40], width=5, fill="0"))
print(tf.strings.as_string(tf.constant([1 + 2j, 3])), tf.strings.as_string(1e10, scientific=True),
      tf.strings.as_string([True, False]), tf.strings.as_string(3.0, shortest=True))
print(tf.strings.format("a {} b {}", (tf.constant([1, 2]), tf.constant("x"))),
      tf.strings.format("{}", tf.range(20), summarize=2), tf.strings.format("%t", tf.constant(1.5), placeholder="%t"))
print(tf.strings.to_hash_bucket_fast(["a", "b", "c"], 1000), tf.strings.to_hash_bucket(["a"], 50),
      tf.strings.to_hash_bucket_strong(["a", "b"], 1000, key=[1, 2]))
print(tf.io.encode_base64(["hi", "there"]), tf.io.decode_base64(tf.io.encode_base64("text")),
      tf.strings.bytes_split(["ab", "c"]))
print(tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, separator="-"),
      tf.strings.ngrams(["x", "y", "z"], 2, separator="_"))
print(tf.strings.unicode_script([ord("a"), ord("Я")]), tf.sort(tf.constant([3, 1])), tf.constant(["b", "a"]) == "a",
      tf.equal(["x"], ["x"]))
print(tf.where(tf.strings.length(s) > 5, s, "short"), tf.boolean_mask(s, s != ""), tf.concat([s[:1], ["end"]], 0),
      tf.reshape(s, [2, 2]), tf.unique(["a", "b", "a"]).y)
print(tf.strings.split(["1 2", "3"]).to_tensor(default_value="0"),
      tf.strings.to_number(tf.strings.split(["1 2", "3"]).flat_values))
print(tf.io.decode_raw(tf.constant(["\x01\x00\x02\x00"]), tf.int16), tf.io.decode_raw("abcd", tf.uint8),
      tf.io.serialize_tensor([1, 2]).dtype)
print(tf.edit_distance(tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2]), tf.SparseTensor([[0, 0]], ["a"], [1, 1])))


@tf.function
def clean(text):
    text = tf.strings.lower(tf.strings.strip(text))
    return tf.strings.split(tf.strings.regex_replace(text, "[^a-z ]", ""), " ")


print(clean(tf.constant(["Hi, There!", " OK? "])))
for bad in (lambda: tf.strings.substr("abc", 5, 1), lambda: tf.strings.to_number(["x"]), lambda: tf.strings.length(5),
            lambda: tf.strings.join([["a"], ["b", "c"]]),
            lambda: tf.strings.regex_replace("a", "(", "b"), lambda: tf.strings.to_hash_bucket_fast(["a"], 0),
            lambda: tf.strings.format("{} {}", tf.constant(1))):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
