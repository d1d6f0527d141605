"""Files, records, pictures and encodings: tf.io without the parsing of examples."""

import os

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, gfile
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable


def read_file(filename, name=None):
    """The whole content of a file."""
    return raw.ReadFile(filename=_as_path(filename), name=name)


def write_file(filename, contents, name=None):
    """Writes a file, with the folders that it needs."""
    return raw.WriteFile(filename=_as_path(filename), contents=contents, name=name)


def matching_files(pattern, name=None):
    """The files that match one or several patterns."""
    return raw.MatchingFiles(pattern=_as_path(pattern), name=name)


def match_filenames_once(pattern, name=None):
    """A local variable with the files that matched when it was initialised."""
    from weft._src.trackable.variable import Variable

    return Variable(
        lambda: matching_files(pattern), trainable=False, validate_shape=False, name=name or "matching_filenames"
    )


def _as_path(value):
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def serialize_tensor(tensor, name=None):
    """A tensor as the bytes of its TensorProto."""
    return raw.SerializeTensor(tensor=tensor, name=name)


def parse_tensor(serialized, out_type, name=None):
    return raw.ParseTensor(serialized=serialized, out_type=out_type, name=name)


# ---- encodings -------------------------------------------------------------------------------------------


def decode_base64(input, name=None):
    return raw.DecodeBase64(input=input, name=name)


def encode_base64(input, pad=False, name=None):
    return raw.EncodeBase64(input=input, pad=pad, name=name)


def decode_compressed(bytes, compression_type="", name=None):
    return raw.DecodeCompressed(bytes=bytes, compression_type=compression_type, name=name)


@dispatchable
def decode_csv(
    records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None
):
    """The columns of CSV lines, one tensor each."""
    if select_cols is not None and any(select_cols[i] >= select_cols[i + 1] for i in range(len(select_cols) - 1)):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols is not None and select_cols and select_cols[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    defaults = [
        convert_to_tensor([] if isinstance(d, dtypes.DType) else d, dtype=d if isinstance(d, dtypes.DType) else None)
        for d in record_defaults
    ]
    return raw.DecodeCSV(
        records=records,
        record_defaults=defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=select_cols or [],
        name=name,
    )


@dispatchable
def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """Bytes as numbers; with fixed_length cut or filled with zeros to that many bytes."""
    if fixed_length is not None:
        return raw.DecodePaddedRaw(
            input_bytes=input_bytes,
            fixed_length=fixed_length,
            out_type=out_type,
            little_endian=little_endian,
            name=name,
        )
    return raw.DecodeRaw(bytes=input_bytes, out_type=out_type, little_endian=little_endian, name=name)


def decode_json_example(json_examples, name=None):
    return raw.DecodeJSONExample(json_examples=json_examples, name=name)


def decode_proto(
    bytes,
    message_type,
    field_names,
    output_types,
    descriptor_source="local://",
    message_format="binary",
    sanitize=False,
    name=None,
):
    return raw.DecodeProtoV2(
        bytes=bytes,
        message_type=message_type,
        field_names=field_names,
        output_types=output_types,
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )


def encode_proto(sizes, values, field_names, message_type, descriptor_source="local://", name=None):
    return raw.EncodeProto(
        sizes=sizes,
        values=values,
        field_names=field_names,
        message_type=message_type,
        descriptor_source=descriptor_source,
        name=name,
    )


# ---- pictures --------------------------------------------------------------------------------------------


@dispatchable
def decode_jpeg(
    contents,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    return raw.DecodeJpeg(
        contents=contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


@dispatchable
def decode_and_crop_jpeg(
    contents,
    crop_window,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    return raw.DecodeAndCropJpeg(
        contents=contents,
        crop_window=crop_window,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


@dispatchable
def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None):
    return raw.DecodePng(contents=contents, channels=channels, dtype=dtype, name=name)


@dispatchable
def decode_bmp(contents, channels=0, name=None):
    return raw.DecodeBmp(contents=contents, channels=channels, name=name)


@dispatchable
def decode_gif(contents, name=None):
    return raw.DecodeGif(contents=contents, name=name)


@dispatchable
def decode_webp(contents, channels=0, dtype=dtypes.uint8, name=None):
    return raw.DecodeWebP(contents=contents, channels=channels, dtype=dtype, name=name)


@dispatchable
def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """A picture of any of the known kinds; animations have four dimensions unless expand_animations is off."""
    return raw.DecodeImage(
        contents=contents, channels=channels or 0, dtype=dtype, expand_animations=expand_animations, name=name
    )


@dispatchable
def encode_jpeg(
    image,
    format="",
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit="in",
    x_density=300,
    y_density=300,
    xmp_metadata="",
    name=None,
):
    return raw.EncodeJpeg(
        image=image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
        name=name,
    )


@dispatchable
def encode_png(image, compression=-1, name=None):
    """One picture or a batch of them as PNG."""
    return raw.EncodePng(image=convert_to_tensor(image), compression=compression, name=name)


@dispatchable
def extract_jpeg_shape(contents, output_type=dtypes.int32, name=None):
    return raw.ExtractJpegShape(contents=contents, output_type=output_type, name=name)


def is_jpeg(contents, name=None):
    """Whether the bytes begin as a JPEG does."""
    return raw.Equal(x=raw.Substr(input=contents, pos=0, len=3), y=b"\xff\xd8\xff", name=name or "is_jpeg")


# ---- sparse tensors --------------------------------------------------------------------------------------


@dispatchable
def serialize_sparse(sp_input, out_type=dtypes.string, name=None):
    return raw.SerializeSparse(
        sparse_indices=sp_input.indices,
        sparse_values=sp_input.values,
        sparse_shape=sp_input.dense_shape,
        out_type=out_type,
        name=name,
    )


@dispatchable
def serialize_many_sparse(sp_input, out_type=dtypes.string, name=None):
    return raw.SerializeManySparse(
        sparse_indices=sp_input.indices,
        sparse_values=sp_input.values,
        sparse_shape=sp_input.dense_shape,
        out_type=out_type,
        name=name,
    )


@dispatchable
def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    from weft._src.ops.sparse_tensor import SparseTensor

    indices, values, shape = raw.DeserializeManySparse(serialized_sparse=serialized_sparse, dtype=dtype, name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


# ---- graphs and records ----------------------------------------------------------------------------------


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph as text or bytes; gives the path."""
    from weft._src.framework.graph import Graph
    from weft._src.proto import text_format

    graph_def = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    logdir = os.fspath(logdir)
    gfile.makedirs(logdir)
    path = os.path.join(logdir, os.fspath(name))
    content = text_format.MessageToString(graph_def).encode() if as_text else graph_def.SerializeToString()
    _weft.replace_file(path, content)
    return path


class TFRecordOptions:
    """How a record file is compressed."""

    compression_type_map = {0: "", 1: "ZLIB", 2: "GZIP", "": 0}

    def __init__(
        self,
        compression_type=None,
        flush_mode=None,
        input_buffer_size=None,
        output_buffer_size=None,
        window_bits=None,
        compression_level=None,
        compression_method=None,
        mem_level=None,
        compression_strategy=None,
    ):
        self.compression_type = self.get_compression_type_string(compression_type)
        self.flush_mode, self.input_buffer_size, self.output_buffer_size, self.window_bits = (
            flush_mode,
            input_buffer_size,
            output_buffer_size,
            window_bits,
        )
        self.compression_level, self.compression_method, self.mem_level = (
            compression_level,
            compression_method,
            mem_level,
        )
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return options.compression_type
        if isinstance(options, int):
            return {0: "", 1: "ZLIB", 2: "GZIP"}[options]
        if options not in ("", "GZIP", "ZLIB"):
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return options


class TFRecordWriter:
    """Writes records into a file."""

    def __init__(self, path, options=None):
        self._writer = _weft.RecordWriter.create(os.fspath(path), TFRecordOptions.get_compression_type_string(options))
        self._open = True

    def write(self, record):
        self._writer.write(record.encode() if isinstance(record, str) else bytes(record))

    def flush(self):
        self._writer.flush()

    def close(self):
        if self._open:
            self._open = False
            self._writer.finish()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def tf_record_iterator(path, options=None):
    """tf.compat.v1.python_io.tf_record_iterator: the records of a file, as bytes."""
    import struct

    from weft._src.framework.errors import DataLossError

    kind = TFRecordOptions.get_compression_type_string(options)
    data = gfile.read_bytes(path)
    if kind:
        import zlib

        data = zlib.decompress(data, 31 if kind == "GZIP" else 15)
    at = 0
    while at < len(data):
        if at + 12 > len(data):
            raise DataLossError(None, None, f"truncated record at {at}")
        (size,) = struct.unpack_from("<Q", data, at)
        if at + 16 + size > len(data):
            raise DataLossError(None, None, f"truncated record at {at}")
        yield data[at + 12 : at + 12 + size]
        at += 16 + size
