"""tf.strings: text as tensors. What splits gives ragged tensors."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import Tensor


def _ragged():
    from weft._src.ops.ragged.ragged_tensor import RaggedTensor

    return RaggedTensor


def _string(value, name=None):
    return convert_to_tensor(value, dtypes.string, name=name)


def _values(value, dtype=None):
    """Of a ragged tensor or of its value a ragged tensor, else a tensor."""
    from weft._src.ops.ragged.ragged_tensor import as_values

    return as_values(value, dtype)


def _rowwise(value, function):
    """A function of vectors that gives one ragged dimension more, for any rank: dense inputs become ragged, row by row."""
    ragged = _ragged()
    if isinstance(value, ragged):
        return value.with_flat_values(_rowwise(value.flat_values, function))
    rank = value.shape.rank
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank == 1:
        return function(value)
    if rank == 0:
        return function(raw.Reshape(tensor=value, shape=[1])).values
    rows = ragged.from_tensor(value, ragged_rank=rank - 1)
    return rows.with_flat_values(function(rows.flat_values))


# ---- plain -----------------------------------------------------------------------------------------------


@dispatchable
def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):
    """Numbers as text."""
    return raw.AsString(
        input=input, precision=precision, scientific=scientific, shortest=shortest, width=width, fill=fill, name=name
    )


@dispatchable
def lower(input, encoding="", name=None):
    return raw.StringLower(input=input, encoding=encoding, name=name)


@dispatchable
def upper(input, encoding="", name=None):
    return raw.StringUpper(input=input, encoding=encoding, name=name)


@dispatchable
def strip(input, name=None):
    return raw.StringStrip(input=input, name=name)


@dispatchable
def length(input, unit="BYTE", name=None):
    return raw.StringLength(input=input, unit=unit, name=name)


@dispatchable
def substr(input, pos, len, unit="BYTE", name=None):
    return raw.Substr(input=input, pos=pos, len=len, unit=unit, name=name)


@dispatchable
def join(inputs, separator="", name=None):
    """Texts of several tensors, element by element."""
    return raw.StringJoin(inputs=[_string(i) for i in inputs], separator=separator, name=name)


@dispatchable
def to_number(input, out_type=dtypes.float32, name=None):
    return raw.StringToNumber(string_tensor=input, out_type=out_type, name=name)


@dispatchable
def to_hash_bucket(input, num_buckets, name=None):
    return raw.StringToHashBucket(string_tensor=input, num_buckets=num_buckets, name=name)


@dispatchable
def to_hash_bucket_fast(input, num_buckets, name=None):
    return raw.StringToHashBucketFast(input=input, num_buckets=num_buckets, name=name)


@dispatchable
def to_hash_bucket_strong(input, num_buckets, key, name=None):
    return raw.StringToHashBucketStrong(input=input, num_buckets=num_buckets, key=key, name=name)


@dispatchable
def regex_full_match(input, pattern, name=None):
    if isinstance(pattern, (str, bytes)):
        return raw.StaticRegexFullMatch(input=input, pattern=pattern, name=name)
    return raw.RegexFullMatch(input=input, pattern=pattern, name=name)


@dispatchable
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return raw.StaticRegexReplace(
            input=input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return raw.RegexReplace(input=input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)


@dispatchable
def unicode_script(input, name=None):
    return raw.UnicodeScript(input=input, name=name)


@dispatchable
def unicode_transcode(
    input,
    input_encoding,
    output_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    return raw.UnicodeTranscode(
        input=input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )


@dispatchable
def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    return raw.UnsortedSegmentJoin(
        inputs=inputs, segment_ids=segment_ids, num_segments=num_segments, separator=separator, name=name
    )


@dispatchable
def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Texts along an axis in one."""
    inputs = _string(inputs)
    if axis is None:
        rank = inputs.shape.rank
        if rank == 0:
            return raw.Identity(input=inputs, name=name)
        axis = (
            list(range(rank))[::-1]
            if rank is not None
            else raw.Range(start=raw.Rank(input=inputs) - 1, limit=-1, delta=-1)
        )
    return raw.ReduceJoin(inputs=inputs, reduction_indices=axis, keep_dims=keepdims, separator=separator, name=name)


@dispatchable
def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """Tensors put into a text where the placeholder stands."""
    if isinstance(inputs, Tensor) or not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    inputs = [i._as_ragged() if hasattr(i, "_as_ragged") else i for i in inputs]
    composite = any(getattr(type(i), "_is_composite", False) for i in inputs)
    inputs = inputs if composite else [convert_to_tensor(i) for i in inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError(
            f"The template expects {template.count(placeholder)} tensors, but the inputs only has {len(inputs)}. Please ensure the number of placeholders in "
            "template matches inputs length."
        )
    if composite:
        from weft._src.function.printing import format_composites

        return format_composites(template, placeholder, inputs, summarize)
    return raw.StringFormat(inputs=inputs, template=template, placeholder=placeholder, summarize=summarize, name=name)


# ---- what gives ragged tensors ---------------------------------------------------------------------------


def _rows_of(sparse):
    """The pieces of a split, as rows."""
    shape = raw.StridedSlice(input=sparse.shape, begin=[0], end=[1], strides=[1], shrink_axis_mask=1)
    rows = raw.StridedSlice(
        input=sparse.indices, begin=[0, 0], end=[0, 1], strides=[1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    )
    return _ragged().from_value_rowids(values=sparse.values, value_rowids=rows, nrows=shape, validate=False)


@dispatchable
def split(input, sep=None, maxsplit=-1, name=None):
    """Each text in pieces."""
    ragged = _ragged()
    value = _values(input, dtypes.string)
    return _rowwise(
        value, lambda row: _rows_of(raw.StringSplitV2(input=row, sep="" if sep is None else sep, maxsplit=maxsplit))
    )


def split_v1(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """tf.compat.v1.strings.split: sparse by default."""
    made = split(source if input is None else input, sep, maxsplit)
    return made.to_sparse() if result_type == "SparseTensor" else made


@dispatchable
def bytes_split(input, name=None):
    """Each text in its bytes."""
    ragged = _ragged()
    value = _values(input, dtypes.string)
    return _rowwise(value, lambda row: _rows_of(raw.StringSplit(input=row, delimiter="", skip_empty=False)))


@dispatchable
def ngrams(
    data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False, name=None
):
    """Neighbouring texts of each row, joined."""
    ragged = _ragged()
    if pad_values is None:
        left = right = ""
    elif isinstance(pad_values, (list, tuple)):
        if len(pad_values) != 2 or not all(isinstance(p, (str, bytes)) for p in pad_values):
            raise TypeError("pad_values must be a string, tuple of strings, or None.")
        left, right = pad_values
    elif isinstance(pad_values, (str, bytes)):
        left = right = pad_values
    else:
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if any(w < 1 for w in widths):
        raise ValueError("All ngram_widths must be greater than 0. Got %s" % (ngram_width,))
    pad = (-1 if padding_width is None else padding_width) if pad_values is not None else 0
    rows = _values(data, dtypes.string)
    dense = not isinstance(rows, ragged)
    vector = dense and rows.shape.rank == 1
    if dense:
        if rows.shape.rank is None:
            raise ValueError("Rank of data must be known.")
        if rows.shape.rank == 0:
            raise ValueError("Data must have rank>0")
        rows = raw.ExpandDims(input=rows, dim=0) if vector else rows
        rows = ragged.from_tensor(rows, ragged_rank=rows.shape.rank - 1)
    if rows.ragged_rank > 1:
        return rows.with_values(
            ngrams(rows.values, ngram_width, separator, pad_values, padding_width, preserve_short_sequences, name)
        )
    made = raw.StringNGrams(
        data=rows.values,
        data_splits=rows.row_splits,
        separator=separator,
        ngram_widths=widths,
        left_pad=left,
        right_pad=right,
        pad_width=pad,
        preserve_short_sequences=preserve_short_sequences,
    )
    result = ragged.from_row_splits(made.ngrams, made.ngrams_splits, validate=False)
    if vector:
        return result[0]
    return result.to_tensor() if dense else result


# ---- Unicode ---------------------------------------------------------------------------------------------


def _decode(row, encoding, errors, replacement_char, replace_control, offsets):
    ragged = _ragged()
    common = dict(
        input=row,
        input_encoding=encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control,
        Tsplits=dtypes.int64,
    )
    if not offsets:
        made = raw.UnicodeDecode(**common)
        return ragged.from_row_splits(made.char_values, made.row_splits, validate=False), None
    made = raw.UnicodeDecodeWithOffsets(**common)
    return (
        ragged.from_row_splits(made.char_values, made.row_splits, validate=False),
        ragged.from_row_splits(made.char_to_byte_starts, made.row_splits, validate=False),
    )


def _decoded(input, encoding, errors, replacement_char, replace_control, offsets):
    ragged = _ragged()
    value = _values(input, dtypes.string)
    parts = []
    _rowwise(
        value,
        lambda row: (
            parts.append(_decode(row, encoding, errors, replacement_char, replace_control, offsets)) or parts[-1][0]
        ),
    )
    codes = _rowwise(value, lambda row: parts[0][0])
    return codes, _rowwise(value, lambda row: parts[0][1]) if offsets else None


@dispatchable
def unicode_decode(
    input, input_encoding, errors="replace", replacement_char=65533, replace_control_characters=False, name=None
):
    """Each text as code points."""
    return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, False)[0]


@dispatchable
def unicode_decode_with_offsets(
    input, input_encoding, errors="replace", replacement_char=65533, replace_control_characters=False, name=None
):
    return _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, True)


def _characters(codes, encoding):
    """Every code point as a text of its own."""
    if not isinstance(codes, Tensor):
        return codes.with_flat_values(_characters(codes.flat_values, encoding))
    return unicode_encode(raw.ExpandDims(input=codes, dim=-1), encoding)


@dispatchable
def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None):
    """Each text in its characters."""
    return _characters(unicode_decode(input, input_encoding, errors, replacement_char), input_encoding)


@dispatchable
def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=65533, name=None):
    codes, offsets = unicode_decode_with_offsets(input, input_encoding, errors, replacement_char)
    return _characters(codes, input_encoding), offsets


@dispatchable
def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """Code points of the last dimension as texts."""
    ragged = _ragged()
    input = _values(input)
    if not isinstance(input, ragged):
        rank = input.shape.rank
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if rank == 1:
            return raw.Reshape(
                tensor=unicode_encode(raw.ExpandDims(input=input, dim=0), output_encoding, errors, replacement_char),
                shape=[],
            )
        if rank > 2:
            shape = raw.Shape(input=input)
            width = raw.StridedSlice(input=shape, begin=[-1], end=[0], strides=[1], end_mask=1)
            rows = raw.Reshape(tensor=input, shape=raw.ConcatV2(values=[[-1], width], axis=0))
            encoded = unicode_encode(rows, output_encoding, errors, replacement_char)
            return raw.Reshape(
                tensor=encoded, shape=raw.StridedSlice(input=shape, begin=[0], end=[-1], strides=[1], begin_mask=1)
            )
        input = ragged.from_tensor(input)
    if input.ragged_rank > 1 or input.flat_values.shape.rank > 1:
        return input.with_values(unicode_encode(input.values, output_encoding, errors, replacement_char))
    return raw.UnicodeEncode(
        input_values=input.values,
        input_splits=input.row_splits,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        name=name,
    )
