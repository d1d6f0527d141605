"""Datasets of files: records, lines, fixed lengths, CSV."""

import csv
import gzip
import io
import itertools

from weft._src.raw import raw
from weft._src.data import structure
from weft._src.data.dataset import Dataset, make
from weft._src.framework import dtypes, gfile
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.type_spec import TensorSpec

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
    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    if not patterns:
        raise ValueError("Argument `file_pattern` should not be empty.")
    files = sorted(gfile.glob(patterns))
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    if column_names is None or column_defaults is None:
        opened = _csv_opener(compression_type, encoding, field_delim, use_quote_delim)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = _header(files, opened)
    if len(column_names) != len(set(column_names)):
        twice = {name for name in column_names if list(column_names).count(name) > 1}
        raise ValueError(f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}.")
    chosen = list(range(len(column_names)))
    if select_columns is not None:
        chosen = _chosen_columns(select_columns, column_names)
    if column_defaults is None:
        rows = itertools.islice(_rows(files, opened, header, len(column_names)), num_rows_for_inference)
        sample = list(rows)
        column_defaults = [_inferred([row[c] for row in sample], na_value) for c in chosen]
    if select_columns is not None and len(column_defaults) != len(chosen):
        raise ValueError(
            "If specified, `column_defaults` and `select_columns` must have the same length: `column_defaults` has length "
            f"{len(column_defaults)}, `select_columns` has length {len(chosen)}."
        )
    names = [column_names[c] for c in chosen]
    if label_name is not None and label_name not in names:
        raise ValueError(f"`label_name` provided must be one of the columns: {names}. Received: {label_name}.")
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


def _csv_opener(compression_type, encoding, field_delim, use_quote_delim):
    """A function that gives the rows of a file, while the columns are being looked for."""
    if compression_type == "ZLIB":
        raise ValueError(f"`compression_type` {compression_type} is not supported for probing columns.")
    if compression_type not in (None, "", "GZIP"):
        raise ValueError(
            f"Received unknown `compression_type` {compression_type}. Expected: GZIP, ZLIB or  (empty string)."
        )

    def rows(name):
        data = gfile.read_bytes(name)
        if compression_type == "GZIP":
            data = gzip.decompress(data)
        quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
        return csv.reader(io.StringIO(data.decode(encoding), newline=""), delimiter=field_delim, quoting=quoting)

    return rows


def _header(files, opened):
    """The names of the columns, the same in all files."""
    found = None
    for name in files:
        row = next(opened(name), None)
        if row is None:
            raise ValueError(f"Failed when reading the header line of {name}. Is it an empty file?")
        if found is not None and row != found:
            raise ValueError(
                "All input CSV files should have the same column names in the header row. "
                f"File {name} has different column names."
            )
        found = row
    return found


def _rows(files, opened, header, count):
    """The rows of all files, each with so many fields."""
    for name in files:
        for number, row in enumerate(opened(name), 1):
            if header and number == 1:
                continue
            if len(row) != count:
                raise ValueError(
                    f"Problem inferring types: CSV row {number} has {len(row)} number of fields. Expected: {count}."
                )
            yield row


def _chosen_columns(select_columns, column_names):
    places = {name: i for i, name in enumerate(column_names)}
    chosen = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(column_names):
                raise ValueError(
                    f"Column index {column} specified in `select_columns` should be > 0  and <= {len(column_names)}, "
                    "which is the number of columns."
                )
            chosen.append(column)
        elif column not in places:
            raise ValueError(
                f"Column {column} specified in `select_columns` must be of one of the columns: {places.keys()}."
            )
        else:
            chosen.append(places[column])
    chosen.sort()
    if len(chosen) != len(set(chosen)):
        raise ValueError(f"The `select_columns` argument contains duplicate columns: {chosen}.")
    return chosen


def _inferred(fields, na_value):
    """The default of a column of these fields, of the first type that holds them all."""
    fields = [f for f in fields if f not in ("", na_value)]
    for number, limits in (
        (int, (-(2**31) - 1, 2**31)),
        (int, (-(2**63) - 1, 2**63)),
        (float, (dtypes.float32.min, dtypes.float32.max)),
        (float, (dtypes.float64.min, dtypes.float64.max)),
    ):
        if fields and all(_holds(f, number, limits) for f in fields):
            dtype = _TYPES[number, limits[1] in (2**31, dtypes.float32.max)]
            return raw.Cast(x=[0.0], DstT=dtype)
    return [b""]


# By Python's type, and whether the small one holds the numbers.
_TYPES = {
    (int, True): dtypes.int32,
    (int, False): dtypes.int64,
    (float, True): dtypes.float32,
    (float, False): dtypes.float64,
}


def _holds(text, number, limits):
    try:
        return limits[0] < number(text) < limits[1]
    except ValueError:
        return False


# TensorFlow shows these classes under their second names.
TFRecordDataset, TextLineDataset, FixedLengthRecordDataset, CsvDataset, SqlDataset = (
    TFRecordDatasetV2,
    TextLineDatasetV2,
    FixedLengthRecordDatasetV2,
    CsvDatasetV2,
    SqlDatasetV2,
)
