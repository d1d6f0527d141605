"""Text, records and images, part 1."""

import contextlib
import re

import tensorflow as tf


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


S = tf.strings
show(lambda: S.length(["a", "héé"]))
show(lambda: S.length("héé", unit="UTF8_CHAR"))
show(lambda: S.length("a", unit="foo"))
show(lambda: S.length(1))
show(lambda: S.upper("aé"))
show(lambda: S.upper("aé", encoding="utf-8"))
show(lambda: S.lower("AÉ", encoding="utf-8"))
show(lambda: S.strip("  a \n"))
show(lambda: S.substr("hello", 1, 3))
show(lambda: S.substr(["abc", "de"], [0, 1], [1, 1]))
show(lambda: S.substr("hello", -3, 2))
show(lambda: S.substr("héllo", 1, 1, unit="UTF8_CHAR"))
show(lambda: S.upper("a", encoding="x"))
show(lambda: S.substr("a", 5, 1))
show(lambda: S.substr("abc", 0, "a"))
show(lambda: S.join(["a", "b"]))
show(lambda: S.join(["a", "b"], "-"))
show(lambda: S.join([["a", "b"], "x"]))
show(lambda: S.reduce_join(["a", "b"]))
show(lambda: S.reduce_join([["a", "b"], ["c", "d"]], axis=0))
show(lambda: S.reduce_join([["a", "b"], ["c", "d"]], axis=[0, 1], separator=","))
show(lambda: S.reduce_join(["a"], keepdims=True))
show(lambda: S.join([["a", "b"], ["x"]]))
show(lambda: S.join([1, 2]))
show(lambda: S.reduce_join(["a"], axis=3))
show(lambda: S.split("a,b,,c", ","))
show(lambda: S.split(["a b", "c"], maxsplit=1))
show(lambda: S.split("a b  c"))
show(lambda: S.split(["a b"], ""))
show(lambda: S.split(1))
show(lambda: S.split("a", 3))
show(lambda: S.regex_replace("a1b2", r"\d", "#"))
show(lambda: S.regex_replace("a1b2", r"\d", "#", replace_global=False))
show(lambda: S.regex_full_match(["a1", "bb"], r"[a-z]\d"))
show(lambda: S.regex_replace("abc", "(b)", r"<\1>"))
show(lambda: S.regex_replace("a", "(", ""))
show(lambda: S.regex_full_match("a", "["))
show(lambda: S.to_number("1.5"))
show(lambda: S.to_number(["1", "2"], tf.int32))
show(lambda: S.to_number("1e3", tf.float64))
show(lambda: S.to_number(" 1 "))
show(lambda: S.to_number("a"))
show(lambda: S.to_number("1.5", tf.int32))
show(lambda: S.to_number("1", tf.string))
show(lambda: S.to_hash_bucket(["a"], 10))
show(lambda: S.to_hash_bucket_fast(["a", "b"], 10))
show(lambda: S.to_hash_bucket_strong(["a"], 10, [1, 2]))
show(lambda: S.to_hash_bucket_fast(["a"], 0))
show(lambda: S.to_hash_bucket_strong(["a"], 10, [1]))
show(lambda: S.as_string([1, 2]))
show(lambda: S.as_string(1.5))
show(lambda: S.as_string(1.5, precision=3))
show(lambda: S.as_string(1.5, scientific=True))
show(lambda: S.as_string(1.5, shortest=True))
show(lambda: S.as_string(True))
show(lambda: S.as_string(5, width=4))
show(lambda: S.as_string(5, width=4, fill="0"))
show(lambda: S.as_string(1 + 2j))
show(lambda: S.as_string(tf.constant(1.5, tf.float64)))
show(lambda: S.as_string("a"))
show(lambda: S.as_string(1, precision=2))
show(lambda: S.as_string(1.5, scientific=True, shortest=True))
show(lambda: S.as_string(1.5, fill="ab"))
show(lambda: S.format("{} {}", [1]))
show(lambda: S.bytes_split("abc"))
show(lambda: S.unicode_decode("héy", "UTF-8"))
show(lambda: S.unicode_encode([104, 233], "UTF-8"))
show(lambda: S.unicode_split("héy", "UTF-8"))
show(lambda: S.unicode_decode_with_offsets("hé", "UTF-8"))
show(lambda: S.unicode_split_with_offsets("hé", "UTF-8"))
show(lambda: S.unicode_transcode("hé", "UTF-8", "UTF-16-BE"))
show(lambda: S.unicode_script([104, 1041]))
show(lambda: S.unicode_decode(b"a\xffb", "UTF-8"))
show(lambda: S.unicode_decode(b"a\xffb", "UTF-8", errors="ignore"))
show(lambda: S.unicode_decode(b"a\xffb", "UTF-8", replacement_char=63))
show(lambda: S.unicode_decode(b"a\xffb", "UTF-8", errors="strict"))
show(lambda: S.unicode_decode("a", "FOO"))
show(lambda: S.unicode_encode([55555555], "UTF-8"))
show(lambda: S.unicode_encode([55555555], "UTF-8", errors="strict"))
show(lambda: S.unicode_transcode("a", "UTF-8", "FOO"))
show(lambda: S.ngrams(["a", "b", "c"], 2))
show(lambda: S.ngrams(["a", "b"], (1, 2), separator="_"))
show(lambda: S.ngrams([["a", "b"], ["c", "d"]], 2, pad_values=("<", ">")))
show(lambda: S.ngrams(["a"], 3, preserve_short_sequences=True))
show(lambda: S.ngrams(["a"], 0))
show(lambda: S.ngrams(["a"], "x"))
show(lambda: S.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2, "-"))
show(lambda: tf.io.encode_base64("hi"))
show(lambda: tf.io.decode_base64("aGk"))
show(lambda: tf.io.encode_base64("hi", pad=True))
show(lambda: tf.io.decode_base64("!!"))
show(lambda: tf.io.decode_raw("abcd", tf.uint8))
show(lambda: tf.io.decode_raw("abcd", tf.int16))
show(lambda: tf.io.decode_raw("abcd", tf.int16, little_endian=False))
show(lambda: tf.io.decode_raw(["ab", "c"], tf.uint8, fixed_length=3))
show(lambda: tf.io.decode_raw("abc", tf.int16))
show(lambda: tf.io.decode_raw(["ab", "c"], tf.uint8))
show(lambda: tf.io.decode_csv("1,2.5,a", [0, 0.0, ""]))
show(lambda: tf.io.decode_csv(["1,2", "3,"], [[0], [9]]))
show(lambda: tf.io.decode_csv("1;2", [0, 0], field_delim=";"))
show(lambda: tf.io.decode_csv('"a,b",c', ["", ""]))
show(lambda: tf.io.decode_csv("NA,1", [0, 0], na_value="NA"))
show(lambda: tf.io.decode_csv("1,2,3", [0, 0], select_cols=[0, 2]))
show(lambda: tf.io.decode_csv("1,2", [0]))
show(lambda: tf.io.decode_csv("a", [0]))
show(lambda: tf.io.decode_csv(",1", [tf.constant([], tf.int32), 0]))
show(lambda: tf.io.decode_json_example("{}") if False else None)
show(lambda: tf.io.serialize_tensor([1, 2]))
show(lambda: tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32))
show(lambda: tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.float32))
show(lambda: tf.io.parse_tensor("junk", tf.int32))
ex = tf.train.Example(
    features=tf.train.Features(
        feature={
            "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2])),
            "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"])),
            "c": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5])),
        }
    )
)
s = ex.SerializeToString(deterministic=True)
show(lambda: len(s))
show(lambda: tf.train.Example.FromString(s) == ex)
show(lambda: tf.io.parse_single_example(s, {"a": tf.io.FixedLenFeature([2], tf.float32)}))
show(lambda: tf.io.parse_single_example(s, {"z": tf.io.FixedLenFeature([], tf.int64)}))
show(lambda: tf.io.parse_single_example(s, {"z": tf.io.FixedLenFeature([], tf.int64, default_value=7)}))
show(lambda: tf.io.parse_single_example(s, {}))
show(lambda: tf.io.parse_single_example(s, None))
show(lambda: tf.io.parse_single_example(s, {"a": 3}))
