"""tf.autograph: Python control flow on tensors becomes graph control flow.

The source of a function is rewritten by the `malt` library (package diastatic-malt): statements become calls of the
operators in this package, which run Python code as Python does and build graph operations (`tf.cond`, `tf.while_loop`,
`Dataset.scan` ...) when a tensor decides. malt is imported when a function with control flow is converted for the first
time, not before: functions without any are converted here.

What tf.function and the other callers inside the package use:

* `convert_for_tracing(f, recursive=True, user_requested=True, optional_features=None)`: the callable to trace in place
  of `f`: it converts `f` (cached by code object) and calls it; errors that leave it carry the user's source lines ("in
  user code: ...").
* `tf_convert(f, ctx, convert_by_default=True, user_requested=False)`: the same for functions given to functions of the
  package (`Dataset.map`, `tf.map_fn`, `tf.cond` ...): `f` is converted or not as `ctx`, a `control_status_ctx()` taken
  where the caller was called, says.
* `rewritten_errors()`: a context manager that turns an exception of converted code into the one the user shall see; for
  code that calls `converted_call` itself.
* `ControlStatusCtx(Status.ENABLED | Status.DISABLED, options)`: entered around a trace (DISABLED for autograph=False).
* `is_converted(f)`: whether `f` came from one of these.
"""

import importlib

# name -> module of this package that has it
_NAMES = {
    "set_verbosity": "log",
    "trace": "log",
    "Status": "context",
    "ControlStatusCtx": "context",
    "control_status_ctx": "context",
    "to_graph": "convert",
    "to_code": "convert",
    "tf_convert": "convert",
    "convert_for_tracing": "convert",
    "converted_call": "calls",
    "do_not_convert": "marks",
    "is_converted": "marks",
    "call_with_unspecified_status": "marks",
    "rewritten_errors": "errors",
    "AutoGraphError": "errors",
    "StagingError": "errors",
    "ConversionError": "errors",
}

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]


def __getattr__(name):
    if name == "experimental":
        return importlib.import_module(".experimental", __name__)
    if name not in _NAMES:
        raise AttributeError(f"module 'weft.autograph' has no attribute '{name}'")
    value = getattr(importlib.import_module("." + _NAMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
