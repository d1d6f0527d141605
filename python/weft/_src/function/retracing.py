"""Tells the user of functions that are traced too often."""

_CALLS, _TRACES, _WARNINGS = 10, 5, 2
_by_code = {}  # functions that are made again and again, by their code


class History:
    """The last calls of a function, by trace."""

    def __init__(self):
        self.calls, self.count, self.warned = [], 0, 0
        self.pending = 0  # calls since the last trace

    def traced(self, function, answered):
        """One more trace; `answered`: calls that the engine answered by itself before."""
        key = _key(function)
        history = _by_code.setdefault(key, self) if key is not None else self
        pending, self.pending = self.pending + answered, 0
        history.add(pending, function)

    def add(self, untraced, function):
        if untraced:
            self.calls = self.calls or [0]
            self.calls[-1] += untraced
            self.count += untraced
        self.calls.append(1)
        self.count += 1
        while self.count - self.calls[0] > _CALLS:
            self.count -= self.calls.pop(0)
        if len(self.calls) < _TRACES or self.warned >= _WARNINGS:
            return
        self.warned += 1
        from weft._src.autograph.log import warning

        warning(
            "%s out of the last %s calls to %s triggered tf.function retracing. Tracing is expensive and the excessive number of tracings could be due to "
            "(1) creating @tf.function repeatedly in a loop, (2) passing tensors with different shapes, (3) passing Python objects instead of tensors. For "
            "(1), please define your @tf.function outside of the loop. For (2), @tf.function has reduce_retracing=True option that can avoid unnecessary "
            "retracing. For (3), please refer to https://www.tensorflow.org/guide/function#controlling_retracing and "
            "https://www.tensorflow.org/api_docs/python/tf/function for  more details.",
            len(self.calls),
            self.count,
            function.python_function,
        )


def _key(function):
    target = function.python_function
    while hasattr(target, "__wrapped__"):
        target = target.__wrapped__
    return getattr(getattr(target, "__func__", target), "__code__", None)
