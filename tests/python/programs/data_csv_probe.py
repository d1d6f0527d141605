"""make_csv_dataset looks into the files for the names and types of columns."""

import gzip
import zlib

import tensorflow as tf


def write(name, text):
    with open(name, "w") as f:
        f.write(text)
    return name


def shown(**options):
    options = dict(batch_size=2, num_epochs=1, shuffle=False, num_parallel_reads=1) | options
    try:
        ds = tf.data.experimental.make_csv_dataset(**options)
        first = next(iter(ds))
        features = first[0] if isinstance(first, tuple) else first
        print({k: (v.dtype.name, v.numpy().tolist()) for k, v in features.items()})
        if isinstance(first, tuple):
            print("  label", first[1].numpy().tolist())
        print("  rows", sum(int(next(iter((b[0] if isinstance(b, tuple) else b).values())).shape[0]) for b in ds))
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])


text = "a,b,c,d,e\n1,2.5,x,,3000000000\n2,3.5,y,,4\n3,1e39,z,,5\n"
write("one.csv", text)
with gzip.open("one.csv.gz", "wt") as f:
    f.write(text)
with open("one.zlib", "wb") as f:
    f.write(zlib.compress(text.encode()))
shown(file_pattern="one.csv")
shown(file_pattern="one.csv", label_name="c")
shown(file_pattern="one.csv.gz", compression_type="GZIP")
shown(file_pattern="one.csv.gz", compression_type="GZIP", select_columns=["b", "a"])
shown(file_pattern="one.zlib", compression_type="ZLIB")
shown(file_pattern="one.csv", compression_type="LZ")
shown(file_pattern="one.csv", compression_type="")
shown(
    file_pattern="one.zlib",
    compression_type="ZLIB",
    column_names=list("abcde"),
    column_defaults=[tf.int32, tf.float32, tf.string, [""], tf.int64],
)
write("two.csv", "a,b,c,d,e\n7,8,9,10,11\n")
write("other.csv", "a,b,x,d,e\n7,8,9,10,11\n")
write("empty.csv", "")
write("short.csv", "a,b\n1,2\n3\n")
write("twice.csv", "a,b,a\n1,2,3\n")
write("odd.csv", "i,j,f,g,n,m\n1,9223372036854775807,inf,1e400,nan,NA\n2,3,1,2,3,4\n")
shown(file_pattern=["one.csv", "two.csv"])
shown(file_pattern=["two.csv", "one.csv"], num_rows_for_inference=1)
shown(file_pattern=["one.csv", "other.csv"])
shown(file_pattern="empty.csv")
shown(file_pattern=["one.csv", "empty.csv"])
shown(file_pattern="short.csv")
shown(file_pattern="twice.csv")
shown(file_pattern="odd.csv")
shown(file_pattern="odd.csv", na_value="NA")
shown(file_pattern="one.csv", header=False)
shown(file_pattern="one.csv", column_names=["p", "p", "q", "r", "s"])
shown(file_pattern="one.csv", select_columns=[0, 9])
shown(file_pattern="one.csv", select_columns=["a", "nope"])
shown(file_pattern="one.csv", select_columns=["a", 2], column_defaults=[tf.int32])
shown(file_pattern="one.csv", select_columns=["a", 2], column_defaults=[tf.int32, tf.string])
shown(file_pattern="one.csv", select_columns=["a", "c"], label_name="b")
shown(file_pattern="none*.csv")
shown(file_pattern=[])
shown(file_pattern="one.csv", column_names=list("vwxyz"), num_rows_for_inference=None)
