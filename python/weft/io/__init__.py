"""tf.io: files, records, and what is written in them."""

from weft._src.namespace import missing as _missing
from weft.io import gfile  # noqa: F401
from weft._src.ops.io_ops import (  # noqa: F401
    TFRecordOptions,
    TFRecordWriter,
    decode_and_crop_jpeg,
    decode_base64,
    decode_bmp,
    decode_compressed,
    decode_csv,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_json_example,
    decode_png,
    decode_proto,
    decode_raw,
    decode_webp,
    deserialize_many_sparse,
    encode_base64,
    encode_jpeg,
    encode_png,
    encode_proto,
    extract_jpeg_shape,
    is_jpeg,
    match_filenames_once,
    matching_files,
    parse_tensor,
    read_file,
    serialize_many_sparse,
    serialize_sparse,
    serialize_tensor,
    write_file,
    write_graph,
)
from weft._src.ops.parsing_config import (  # noqa: F401
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from weft._src.ops.parsing_ops import (
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)  # noqa: F401

__getattr__ = _missing("tf.io")
