"""tf.print: values as text, when they are computed."""

import pprint
import sys

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, nest
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import name_scope_v1
from weft._src.framework.tensor import Tensor


def _to_python_stream(to_stderr, text):
    """For the engine: text that PrintV2 writes."""
    stream = sys.stderr if to_stderr else sys.stdout
    try:
        stream.write(text)
    except UnicodeEncodeError:  # bytes that are no text
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        else:
            stream.flush()
            buffer.write(text.encode("utf-8", "surrogateescape"))
    stream.flush()


_weft.set_printer(_to_python_stream)


class _Placeholder:
    """A tensor's place in the text of a structure."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


class _Text:
    """A string tensor that is shown as it is, without quotes."""

    def __init__(self, tensor):
        self.tensor = tensor


def _stream_name(output_stream):
    if isinstance(output_stream, str):
        if output_stream.startswith("file://"):
            return output_stream
        for name in ("stdout", "stderr", "log(info)", "log(warning)", "log(error)"):
            if output_stream == name:
                return name
    elif output_stream is sys.stdout:
        return "stdout"
    elif output_stream is sys.stderr:
        return "stderr"
    elif callable(output_stream):
        name = getattr(output_stream, "__name__", "")
        if name in ("info", "warning", "warn", "error"):
            return f"log({'warning' if name == 'warn' else name})"
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{output_stream}. Supported streams are sys.stdout, sys.stderr, tf.logging.info, "
        "tf.logging.warning, tf.logging.error. File needs to be in the form of 'file://<filepath>'."
    )


def _is_tensor(x):
    return isinstance(x, (Tensor, _weft.VariableBase))


def _is_composite(x):
    return getattr(type(x), "_is_composite", False)


def _composite_leaf(x, tensors, summarize):
    """A composite tensor in a text: a ragged one as nested lists, others by their parts."""
    name = type(x).__name__
    if name == "RaggedTensor":
        tensors.append(_Text(ragged_text(x, summarize)))
        return _Placeholder(_MARK)
    if name == "SparseTensor":
        tensors.extend([x.indices, x.values, x.dense_shape])
        return f"SparseTensor(indices={_MARK}, values={_MARK}, shape={_MARK})"
    tensors.extend(t for t in nest.flatten(x, expand_composites=True) if t is not None)
    count = sum(t is not None for t in nest.flatten(x, expand_composites=True))
    return _Placeholder(f"{name}({', '.join([_MARK] * count)})")


def ragged_text(x, summarize):
    """The values of a ragged tensor as a string tensor: [[1, 2], [3]]."""
    values = x.values
    if _is_composite(values):
        inner = _ragged_rows(values, summarize)
    else:
        inner = _rows_of(values, summarize)
    rows = _joined(inner, x.row_splits, summarize)
    return _joined_all(rows, summarize)


def _rows_of(values, summarize):
    """Each element (or row) of a dense tensor as a string."""
    if values.dtype is not dtypes.string:
        return raw.AsString(input=values)
    escaped = raw.RegexReplace(input=values, pattern=r"(['\\])", rewrite=r"\\\1")
    return raw.StringJoin(inputs=["'", escaped, "'"])


def _ragged_rows(x, summarize):
    inner = _ragged_rows(x.values, summarize) if _is_composite(x.values) else _rows_of(x.values, summarize)
    return _joined(inner, x.row_splits, summarize)


def _joined(strings, splits, summarize):
    """ "[a, b]" for each row."""
    from weft._src.function.functional import map_fn

    def row(i):
        begin = raw.GatherV2(params=splits, indices=i, axis=0)
        end = raw.GatherV2(params=splits, indices=i + 1, axis=0)
        part = raw.StridedSlice(
            input=strings,
            begin=raw.Pack(values=[begin]),
            end=raw.Pack(values=[end]),
            strides=raw.Pack(values=[raw.OnesLike(x=begin)]),
        )
        return _joined_all(part, summarize)

    count = raw.StridedSlice(input=raw.Shape(input=splits), begin=[0], end=[1], strides=[1], shrink_axis_mask=1)
    return map_fn(row, raw.Range(start=0, limit=count - 1, delta=1), fn_output_signature=dtypes.string)


def _joined_all(strings, summarize):
    """All of a row, or its ends with dots between."""
    if summarize >= 0:
        from weft._src.function.control_flow import cond

        size = raw.StridedSlice(input=raw.Shape(input=strings), begin=[0], end=[1], strides=[1], shrink_axis_mask=1)

        def cut():
            first = raw.StridedSlice(input=strings, begin=[0], end=[summarize], strides=[1])
            last = raw.StridedSlice(
                input=strings, begin=raw.Pack(values=[size - summarize]), end=[0], strides=[1], end_mask=1
            )
            return raw.ConcatV2(values=[first, ["..."], last], axis=0)

        strings = cond(raw.Greater(x=size, y=2 * summarize), cut, lambda: raw.Identity(input=strings))
    text = raw.ReduceJoin(inputs=strings, reduction_indices=[0], separator=", ")
    return raw.StringJoin(inputs=["[", text, "]"])


_MARK = "\u00a4\u00a4"  # stands for a tensor while the text is made: as long as TensorFlow's {}


def _template(text):
    """The text with a mark for tensors that is nowhere else in it; and that mark."""
    place, n = "{}", 0
    while place in text:
        place, n = "{%d}" % n, n + 1
    return text.replace(_MARK, place), place


def print_v2(*inputs, **kwargs):
    """Prints values, tensors with their contents, as Python's print does: output_stream, summarize, sep, end, name."""
    output_stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    stream = _stream_name(output_stream)
    if summarize is None:
        summarize = 3
    if not isinstance(summarize, int):
        raise TypeError(f"Expected int for argument 'summarize' not {summarize!r}.")
    sep.join(())
    if len(inputs) == 1 and _is_tensor(inputs[0]) and inputs[0].dtype is dtypes.string and inputs[0].shape.rank == 0:
        return raw.PrintV2(input=inputs[0], output_stream=stream, end=end, name=name)
    parts, tensors = [], []
    for x in inputs:
        if _is_tensor(x):
            parts.append(_MARK)
            tensors.append(x)
        elif isinstance(x, str):
            parts.append(x)
        else:
            parts.append(_structure_text(x, tensors, summarize))
    text = _formatted(sep.join(parts), tensors, summarize)
    return raw.PrintV2(input=text, output_stream=stream, end=end, name=name)


def _formatted(text, tensors, summarize):
    """The text with the tensors in the places of the marks."""
    template, place = _template(text)
    if not any(isinstance(t, _Text) for t in tensors):
        with name_scope_v1("StringFormat") as scope:  # variables are read under the name of the op
            inputs = [convert_to_tensor(t) for t in tensors]
        return raw.StringFormat(
            inputs=inputs,
            template=template,
            placeholder=place,
            summarize=summarize,
            name=scope if _weft.in_graph() else None,
        )
    # Texts stand between what is formatted.
    pieces = template.split(place)
    joined, before, waiting = [], pieces[0], []
    for tensor, after in zip(tensors, pieces[1:]):
        if isinstance(tensor, _Text):
            joined += [
                raw.StringFormat(inputs=waiting, template=before, placeholder=place, summarize=summarize),
                tensor.tensor,
            ]
            before, waiting = after, []
        else:
            before += place + after
            waiting.append(convert_to_tensor(tensor))
    joined.append(raw.StringFormat(inputs=waiting, template=before, placeholder=place, summarize=summarize))
    return raw.StringJoin(inputs=joined)


def format_composites(template, place, inputs, summarize):
    """tf.strings.format where ragged tensors are among the inputs."""
    return _formatted(
        template.replace(place, _MARK),
        [_Text(ragged_text(x, summarize)) if hasattr(x, "row_splits") else x for x in inputs],
        summarize,
    )


def _structure_text(x, tensors, summarize):
    def leaf(y):
        if _is_tensor(y):
            tensors.append(y)
            return _Placeholder(_MARK)
        return _composite_leaf(y, tensors, summarize) if _is_composite(y) else y

    if not nest.is_nested(x) and not _is_composite(x):
        return pprint.pformat(x)
    # In the order of the text: dicts are shown by key, ordered ones as they are.
    return pprint.pformat(_replaced(x, leaf))


def _replaced(x, leaf):
    if isinstance(x, dict):
        keys = list(x)
        if type(x) is dict:
            try:
                keys.sort()
            except TypeError:
                pass
        made = {k: _replaced(x[k], leaf) for k in keys}
        return type(x)((k, made[k]) for k in x) if type(x) is not dict else made
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[_replaced(v, leaf) for v in x])
    if isinstance(x, (list, tuple)):
        return type(x)([_replaced(v, leaf) for v in x])
    return leaf(x)
