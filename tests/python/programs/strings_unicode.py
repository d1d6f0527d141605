"""Unicode: code points, encodings, splitting, offsets, transcoding, normal errors, scripts."""
import tensorflow as tf

text = tf.constant("Thanks 😊")
print(text, tf.strings.length(text), tf.strings.length(text, unit="UTF8_CHAR"))
text_utf8 = tf.constant("语言处理")
text_utf16be = tf.constant("语言处理".encode("UTF-16-BE"))
text_chars = tf.constant([ord(char) for char in "语言处理"])
print(text_utf8, text_utf16be, text_chars)
print(tf.strings.unicode_decode(text_utf8, input_encoding="UTF-8"))
print(tf.strings.unicode_encode(text_chars, output_encoding="UTF-8"))
print(tf.strings.unicode_transcode(text_utf8, input_encoding="UTF8", output_encoding="UTF-16-BE"))
batch_utf8 = [s.encode("UTF-8") for s in ["hÃllo", "What is the weather tomorrow", "Göödnight", "😊"]]
batch_chars_ragged = tf.strings.unicode_decode(batch_utf8, input_encoding="UTF-8")
for sentence_chars in batch_chars_ragged.to_list():
    print(sentence_chars)
print(batch_chars_ragged.to_tensor(default_value=-1)[:, :6])
print(batch_chars_ragged.to_sparse().values[:5])
print(tf.strings.unicode_encode([[99, 97, 116], [100, 111, 103], [99, 111, 119]], output_encoding="UTF-8"))
print(tf.strings.unicode_encode(batch_chars_ragged, output_encoding="UTF-8"))
thanks = "Thanks 😊".encode("UTF-8")
print("{} bytes; {} UTF-8 characters".format(tf.strings.length(thanks).numpy(),
                                             tf.strings.length(thanks, unit="UTF8_CHAR").numpy()))
print(tf.strings.substr(thanks, pos=7, len=1).numpy(),
      tf.strings.substr(thanks, pos=7, len=1, unit="UTF8_CHAR").numpy())
print(tf.strings.unicode_split(thanks, "UTF-8").numpy(), tf.strings.unicode_split(["ab", "é"], "UTF-8"))
codepoints, offsets = tf.strings.unicode_decode_with_offsets("🎈🎉🎊", "UTF-8")
for codepoint, offset in zip(codepoints.numpy(), offsets.numpy()):
    print("At byte offset {}: codepoint {}".format(offset, codepoint))
print(tf.strings.unicode_split_with_offsets("aé", "UTF-8"))
uscript = tf.strings.unicode_script([33464, 1041])
print(uscript.numpy(), tf.strings.unicode_script(batch_chars_ragged))
print(tf.strings.unicode_decode(b"bad \xff byte", "UTF-8"),
      tf.strings.unicode_decode(b"bad \xff byte", "UTF-8", errors="ignore"),
      tf.strings.unicode_decode(b"\xff", "UTF-8", replacement_char=63))
print(tf.strings.unicode_transcode(["a\x00b"], "UTF-8", "UTF-8", replace_control_characters=True),
      tf.strings.unicode_transcode(b"\xe9", "ISO-8859-1", "UTF-8"))
try:
    tf.strings.unicode_decode(b"\xff", "UTF-8", errors="strict")
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.strings.unicode_decode("a", "LATIN-77")
except Exception as e:
    print(type(e).__name__)
sentence_texts = ["Hello, world.", "世界こんにちは"]
chars = tf.strings.unicode_decode(sentence_texts, "UTF-8")
scripts = tf.strings.unicode_script(chars)
breaks = tf.concat([tf.fill([scripts.nrows(), 1], True), tf.not_equal(scripts[:, 1:], scripts[:, :-1])], axis=1)
starts = tf.squeeze(tf.where(breaks.values), axis=1)
words = tf.RaggedTensor.from_row_starts(values=chars.values, row_starts=starts)
print(tf.strings.unicode_encode(words, "UTF-8"))
print(tf.RaggedTensor.from_row_lengths(words, tf.reduce_sum(tf.cast(breaks, tf.int64), axis=1)))
