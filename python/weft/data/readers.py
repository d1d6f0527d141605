"""Datasets of files: records, lines, fixed lengths, CSV."""

from weft._raw import raw
from weft.data import structure
from weft.data.dataset import Dataset, make
from weft.framework import dtypes, gfile
from weft.framework.convert import convert_to_tensor
from weft.framework.type_spec import TensorSpec

_STRING = TensorSpec([], dtypes.string)
_BUFFER = 256 * 1024


def _file_names(filenames):
    """A dataset of scalar names."""
    if isinstance(filenames, Dataset):
        spec = filenames.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string:
            raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got {spec!r}.")
        if spec.shape.rank not in (0, None):
            raise TypeError(
                f"The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got {spec.shape!r}."
            )
        return filenames
    import os

    if isinstance(filenames, os.PathLike):
        filenames = os.fspath(filenames)
    elif isinstance(filenames, (list, tuple)):
        filenames = [os.fspath(f) if isinstance(f, os.PathLike) else f for f in filenames]
    names = convert_to_tensor(filenames, dtype_hint=dtypes.string)
    if names.dtype is not dtypes.string:
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got `{names.dtype!r}` elements.")
    return Dataset.from_tensor_slices(raw.Reshape(tensor=names, shape=[-1]))


def _read(filenames, source, parallel):
    names = _file_names(filenames)
    if parallel is None:
        return names.flat_map(source)
    return names.interleave(source, cycle_length=parallel if parallel != -1 else None, num_parallel_calls=parallel)


class _FileDataset(Dataset):
    """One class for each format, made by its own constructor."""

    def _take(self, dataset):
        self._set_up(dataset._variant_tensor, dataset.element_spec, [dataset])


class TFRecordDatasetV2(_FileDataset):
    """tf.data.TFRecordDataset: the records of TFRecord files, as bytes."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        kind = convert_to_tensor(compression_type or "", dtypes.string)
        size = convert_to_tensor(_BUFFER if buffer_size is None else buffer_size, dtypes.int64)
        self._filenames = filenames

        def source(name):
            return make(
                "_TFRecordDataset",
                raw.TFRecordDataset(filenames=name, compression_type=kind, buffer_size=size),
                _STRING,
            )

        self._take(_read(filenames, source, num_parallel_reads))


class TextLineDatasetV2(_FileDataset):
    """tf.data.TextLineDataset: the lines of text files."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        kind = convert_to_tensor(compression_type or "", dtypes.string)
        size = convert_to_tensor(_BUFFER if buffer_size is None else buffer_size, dtypes.int64)

        def source(name):
            return make(
                "_TextLineDataset",
                raw.TextLineDataset(filenames=name, compression_type=kind, buffer_size=size),
                _STRING,
            )

        self._take(_read(filenames, source, num_parallel_reads))


class FixedLengthRecordDatasetV2(_FileDataset):
    """tf.data.FixedLengthRecordDataset: records of one length."""

    def __init__(
        self,
        filenames,
        record_bytes,
        header_bytes=None,
        footer_bytes=None,
        buffer_size=None,
        compression_type=None,
        num_parallel_reads=None,
        name=None,
    ):
        def number(value, default):
            return convert_to_tensor(default if value is None else value, dtypes.int64)

        sizes = dict(
            header_bytes=number(header_bytes, 0),
            record_bytes=number(record_bytes, 0),
            footer_bytes=number(footer_bytes, 0),
            buffer_size=number(buffer_size, _BUFFER),
        )
        kind = convert_to_tensor(compression_type or "", dtypes.string)

        def source(name):
            return make(
                "_FixedLengthRecordDataset",
                raw.FixedLengthRecordDatasetV2(filenames=name, compression_type=kind, **sizes),
                _STRING,
            )

        self._take(_read(filenames, source, num_parallel_reads))


class CsvDatasetV2(_FileDataset):
    """tf.data.experimental.CsvDataset: the rows of CSV files as tuples."""

    def __init__(
        self,
        filenames,
        record_defaults,
        compression_type=None,
        buffer_size=None,
        header=False,
        field_delim=",",
        use_quote_delim=True,
        na_value="",
        select_cols=None,
        exclude_cols=None,
    ):
        defaults = [_default(d) for d in record_defaults]
        spec = tuple(TensorSpec([], d.dtype) for d in defaults)
        names = convert_to_tensor(filenames, dtypes.string)
        columns = raw.Reshape(
            tensor=convert_to_tensor(select_cols if select_cols is not None else [], dtypes.int64), shape=[-1]
        )
        excluded = raw.Reshape(
            tensor=convert_to_tensor(exclude_cols if exclude_cols is not None else [], dtypes.int64), shape=[-1]
        )
        variant = raw.CSVDatasetV2(
            filenames=names,
            compression_type=convert_to_tensor(compression_type or "", dtypes.string),
            buffer_size=convert_to_tensor(4 * 1024 * 1024 if buffer_size is None else buffer_size, dtypes.int64),
            header=convert_to_tensor(header, dtypes.bool),
            field_delim=convert_to_tensor(field_delim, dtypes.string),
            use_quote_delim=convert_to_tensor(use_quote_delim, dtypes.bool),
            na_value=convert_to_tensor(na_value, dtypes.string),
            select_cols=columns,
            record_defaults=defaults,
            exclude_cols=excluded,
            output_shapes=structure.types_and_shapes(spec)["output_shapes"],
        )
        self._set_up(variant, spec)


class SqlDatasetV2(_FileDataset):
    """tf.data.experimental.SqlDataset: the rows that a query finds in an SQLite database."""

    def __init__(self, driver_name, data_source_name, query, output_types):
        spec = structure.map_leaves(lambda dtype: TensorSpec([], dtype), output_types)
        variant = raw.SqlDataset(
            driver_name=convert_to_tensor(driver_name, dtypes.string),
            data_source_name=convert_to_tensor(data_source_name, dtypes.string),
            query=convert_to_tensor(query, dtypes.string),
            **structure.types_and_shapes(spec),
        )
        self._set_up(variant, spec)


def _default(value):
    """A type: the field is required. A value: what an empty field becomes."""
    if isinstance(value, (dtypes.DType, type)):
        dtype = dtypes.as_dtype(value)
        empty = convert_to_tensor([], dtypes.float32)
        return (
            raw.Reshape(tensor=raw.Cast(x=empty, DstT=dtype), shape=[0])
            if dtype is not dtypes.string
            else raw.Fill(dims=[0], value=b"")
        )
    tensor = convert_to_tensor(value)
    return raw.Reshape(tensor=tensor, shape=[-1])


def make_csv_dataset(
    file_pattern,
    batch_size,
    column_names=None,
    column_defaults=None,
    label_name=None,
    select_columns=None,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    header=True,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    num_parallel_reads=None,
    sloppy=False,
    num_rows_for_inference=100,
    compression_type=None,
    ignore_errors=False,
    encoding="utf-8",
):
    """tf.data.experimental.make_csv_dataset: rows as dicts of columns, in batches."""
    import csv
    import io

    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    files = sorted(gfile.glob(patterns))
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    with io.StringIO(gfile.read_bytes(files[0]).decode(encoding), newline="") as first:
        rows = csv.reader(
            first, delimiter=field_delim, quoting=csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
        )
        if column_names is None:
            if not header:
                raise ValueError("Expected `column_names` or `header` argument.")
            column_names = next(rows)
        elif header:
            next(rows)
        sample = [row for _, row in zip(range(num_rows_for_inference or 10**9), rows)]
    chosen = list(range(len(column_names)))
    if select_columns is not None:
        chosen = sorted(column_names.index(c) if isinstance(c, str) else c for c in select_columns)
    if column_defaults is None:
        column_defaults = [_inferred([row[c] for row in sample], na_value) for c in chosen]
    elif select_columns is None and len(column_defaults) != len(chosen):
        raise ValueError(
            "If `select_columns` is not specified, `column_defaults` must have the same length as `column_names`."
        )
    names = [column_names[c] for c in chosen]
    if label_name is not None and label_name not in names:
        raise ValueError("`label_name` provided must be one of the columns.")
    epochs = Dataset.from_tensor_slices(files)
    if shuffle:
        epochs = epochs.shuffle(len(files), shuffle_seed)

    def read(name):
        return CsvDatasetV2(
            name,
            column_defaults,
            compression_type=compression_type,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=chosen if select_columns is not None else None,
            header=header,
        )

    dataset = epochs.interleave(read, cycle_length=num_parallel_reads or 1)
    if ignore_errors:
        dataset = dataset.ignore_errors()
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)

    def to_dict(*columns):
        features = dict(zip(names, columns))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    return dataset.map(to_dict).prefetch(prefetch_buffer_size if prefetch_buffer_size is not None else -1)


def _inferred(fields, na_value):
    fields = [f for f in fields if f not in ("", na_value)]
    for kind, dtype in (
        (_int32, dtypes.int32),
        (int, dtypes.int64),
        (_float32, dtypes.float32),
        (float, dtypes.float64),
    ):
        try:
            for field in fields:
                kind(field)
        except (ValueError, OverflowError):
            continue
        return raw.Cast(x=[0.0], DstT=dtype)
    return [b""]


def _int32(text):
    if not -(2**31) <= int(text) < 2**31:
        raise ValueError(text)


def _float32(text):
    value = float(text)
    if abs(value) > 3.4028235e38 and value not in (float("inf"), float("-inf")):
        raise ValueError(text)


# TensorFlow shows these classes under their second names.
TFRecordDataset, TextLineDataset, FixedLengthRecordDataset, CsvDataset, SqlDataset = (
    TFRecordDatasetV2,
    TextLineDatasetV2,
    FixedLengthRecordDatasetV2,
    CsvDatasetV2,
    SqlDatasetV2,
)
