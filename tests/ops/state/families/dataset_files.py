"""Datasets of records in files. The files are written once, beside the recordings."""
import gzip
import os
import zlib

import numpy as np
import tensorflow as tf

from state_format import strings

from families.datasets import Data, rng, slices

L, F, I = np.int64, np.float32, np.int32
HERE = "tests/golden/state/files/"
KW = ([tf.string], [[]])


def s(text):
    return strings(text)[0]


def write(name, data):
    path = HERE + name
    if not os.path.exists(path):
        os.makedirs(HERE, exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
    return path


def files():
    lines = b"one\ntwo\r\n\nfo\rur\nlast"
    os.makedirs(HERE, exist_ok=True)
    if not os.path.exists(HERE + "a.tfrecord"):
        for name, kind in (("a.tfrecord", ""), ("a.tfrecord.gz", "GZIP"), ("a.tfrecord.z", "ZLIB")):
            with tf.io.TFRecordWriter(HERE + name, kind) as w:
                for i in range(5):
                    w.write(b"record %d " % i * i)
    good = open(HERE + "a.tfrecord", "rb").read()
    write("short.tfrecord", good[:50])
    write("no_footer.tfrecord", good[:-2])
    write("bad_length.tfrecord", good[:20] + b"x" + good[21:])
    write("bad_data.tfrecord", good[:34] + b"x" + good[35:])
    write("empty", b"")
    write("lines", lines)
    write("lines.gz", gzip.compress(lines, mtime=0))
    write("lines.z", zlib.compress(lines))
    write("two.gz", gzip.compress(b"a\nb\n", mtime=0) + gzip.compress(b"c\nd\n", mtime=0))
    write("cut.gz", gzip.compress(lines * 40, mtime=0)[:30])
    write("fixed", b"HHaaabbbcccdddFFF")
    write("fixed.gz", gzip.compress(b"HHaaabbbcccdddFFF", mtime=0))
    write("numbers.csv", b'i,f,s,l\n1,2.5,abc,10\n2,,"de,f",\n3,-1e3,"g""h",30\r\n4,5,"line\nbreak",40\n')
    write("broken.csv", b'1,2\nx,3\n4,5,6\n7\n8,"9"\n"a"b,1\n1,2"3\n\n10,11\n12,"open')


def records(r):
    zero = L(0)
    for name, kind in (("a.tfrecord", ""), ("a.tfrecord.gz", "GZIP"), ("a.tfrecord.z", "ZLIB")):
        r.seq("tf_record/" + name)
        Data(r, r.op("TFRecordDataset", s(HERE + name), s(kind), zero), *KW).size().walk(5)
        Data(r, r.op("TFRecordDataset", strings(HERE + name, HERE + name), s(kind), L(1000)), *KW).size().walk(10)
    for name in ("short.tfrecord", "no_footer.tfrecord", "bad_length.tfrecord", "bad_data.tfrecord", "empty", "lines", "missing", ""):
        r.seq("tf_record/" + name)
        for buffer in (0, 5, 1 << 20):
            d = Data(r, r.op("TFRecordDataset", strings(HERE + name, HERE + "a.tfrecord"), s(""), L(buffer)), *KW).size()
            it = d.iterator()
            for _ in range(9):
                d.next(it, fails=None)
    r.seq("tf_record/compression")
    Data(r, r.op("TFRecordDataset", s(HERE + "a.tfrecord"), s("ZSTD"), zero, fails=None), *KW).walk(5)
    r.op("TFRecordDataset", s(HERE + "a.tfrecord"), s(""), L(-1))
    r.op("TFRecordDataset", np.array([[b"x"]], object), s(""), zero, fails=True)
    d = Data(r, r.op("TFRecordDataset", s(HERE + "a.tfrecord"), s("GZIP"), zero), *KW)
    d.next(d.iterator(), fails=True)
    Data(r, r.op("TFRecordDataset", strings(), s(""), zero), *KW).size().walk(0)


def text(r):
    for name, kind, n in (("lines", "", 5), ("lines.gz", "GZIP", 5), ("lines.z", "ZLIB", 5), ("two.gz", "GZIP", 4), ("empty", "", 0)):
        r.seq("text/" + name)
        for buffer in (0, 1, 1 << 20):
            Data(r, r.op("TextLineDataset", s(HERE + name), s(kind), L(buffer)), *KW).size().walk(n)
    r.seq("text/errors")
    Data(r, r.op("TextLineDataset", strings(HERE + "lines", HERE + "two.gz", HERE + "lines"), s(""), L(0)), *KW).size().walk(6, end=False)
    for name, kind in (("missing", ""), ("lines", "GZIP"), ("lines.gz", "ZLIB")):
        d = Data(r, r.op("TextLineDataset", strings(HERE + name, HERE + "lines"), s(kind), L(0)), *KW)
        it = d.iterator()
        for _ in range(3):
            d.next(it, fails=True)
    r.op("TextLineDataset", s("x"), s("ZSTD"), L(0), fails=True)
    r.op("TextLineDataset", s("x"), s(""), L(-1), fails=True)


def fixed(r):
    r.seq("fixed")
    for name, kind in (("fixed", ""), ("fixed.gz", "GZIP")):
        for header, record, footer, n in ((2, 3, 3, 4), (2, 15, 0, 1), (0, 17, 0, 1), (0, 1, 0, 17), (2, 6, 3, 2), (14, 1, 3, 0), (17, 1, 0, 0)):
            f = s(HERE + name)
            Data(r, r.op("FixedLengthRecordDatasetV2", f, L(header), L(record), L(footer), L(0), s(kind)), *KW).size().walk(n)
    r.seq("fixed/errors")
    for name, kind in (("fixed", ""), ("fixed.gz", "GZIP")):
        for header, record, footer in ((2, 5, 3), (20, 1, 0), (0, 4, 20), (10, 4, 10)):
            d = Data(r, r.op("FixedLengthRecordDatasetV2", strings(HERE + name, HERE + name), L(header), L(record), L(footer), L(0), s(kind)), *KW)
            it = d.iterator()
            for _ in range(4):
                d.next(it, fails=None)
    for bad in ((-1, 1, 0, 0), (0, 0, 0, 0), (0, -1, 0, 0), (0, 1, -1, 0), (0, 1, 0, -1)):
        r.op("FixedLengthRecordDatasetV2", s("x"), *[L(b) for b in bad], s(""), fails=True)
    r.op("FixedLengthRecordDatasetV2", s("x"), L(0), L(1), L(0), L(0), s("ZSTD"), fails=True)


def csv(r):
    def read(name, defaults, header=False, kind="", delim=",", quotes=True, na="", select=(), exclude=(), buffer=4096, **kw):
        types = [tf.string if a.dtype == object else tf.as_dtype(a.dtype) for a in defaults]
        ref = r.op("CSVDatasetV2", s(HERE + name), s(kind), L(buffer), np.array(header), s(delim), np.array(quotes), s(na), np.array(select, L), *defaults,
                   np.array(exclude, L), output_types=types, output_shapes=[[]] * len(types), **kw)
        return Data(r, ref, types, [[]] * len(types))
    i, f, t, l = np.array([7], I), np.array([0.25], F), strings("none"), np.array([99], L)
    r.seq("csv")
    for buffer in (1, 7, 4096):
        read("numbers.csv", [i, f, t, l], True, buffer=buffer).size().walk(4)
    read("numbers.csv", [i, np.array([0.5]), t, l], True).walk(4)
    read("numbers.csv", [t, t, t, t]).walk(5)
    read("numbers.csv", [t, l], True, select=[2, 3]).walk(4)
    read("numbers.csv", [i, t], True, exclude=[1, 3]).walk(4)
    read("numbers.csv", [i, np.array([], F), t, l], True, na="3").walk(1, end=False)
    read("numbers.csv", [t], delim="|", quotes=False).walk(6, end=False)
    r.seq("csv/broken")
    for defaults in ([i, i], [i, np.array([], I)], [t, t], [np.array(5, I), np.array(6, I)]):
        d = read("broken.csv", defaults)
        it = d.iterator()
        for _ in range(13):
            d.next(it, fails=None)
    r.seq("csv/errors")
    for name in ("missing", "empty"):
        for header in (True, False):
            d = read(name, [i], header)
            it = d.iterator()
            for _ in range(2):
                d.next(it, fails=True)
    for kw in (dict(delim=""), dict(delim="ab"), dict(kind="ZIP"), dict(select=[1, 0]), dict(select=[-1, 0]), dict(select=[0]), dict(exclude=[1, 1]), dict(exclude=[-1]),
               dict(select=[0, 1], exclude=[2]), dict(buffer=0), dict(buffer=-1)):
        read("numbers.csv", [i, i], fails=True, **kw)
    read("numbers.csv", [np.array([1, 2], I), i], fails=True)
    read("numbers.csv", [np.array([[1]], I), i], fails=True)
    r.seq("csv/v1")
    ref = r.op("CSVDataset", s(HERE + "numbers.csv"), s(""), L(100), np.array(True), s(","), np.array(True), s(""), np.array([0, 2], L), i, t,
               output_types=[tf.int32, tf.string], output_shapes=[[], []])
    Data(r, ref, [tf.int32, tf.string], [[], []]).size().walk(4)


def record(r):
    files()
    for part in (records, text, fixed, csv):
        part(r)
