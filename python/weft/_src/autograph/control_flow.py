"""if, while and for: as Python has them, or as graph operations where a tensor decides."""

import sys
import traceback

from . import _tf, checks, log, loops

_LIMITATIONS = (
    "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md"
    "#consistency-of-control-flow-types for more info."
)
UNROLLED_ITERATIONS = 50002  # one of these is looked at


def if_stmt(cond, body, orelse, get_state, set_state, symbol_names, nouts):
    """`body` and `orelse` change variables that get_state and set_state read and write; the first `nouts` of them are
    used afterwards."""
    if not _tf.is_dense(cond):
        return body() if cond else orelse()
    cond = checks.condition(cond, "if statement")
    before = get_state()
    ends = {}

    def branch(name, run):
        def traced():
            set_state(before)
            run()
            outputs = get_state()[:nouts]
            checks.branch_outputs(outputs, symbol_names, name)
            outputs = outputs or (0,)  # a conditional without outputs is not one
            ends[name] = outputs
            if len(ends) == 2:
                checks.branches_agree(ends["main"], ends["else"], symbol_names or ("<internal dummy>",))
            return outputs

        return traced

    after = _tf.cond(cond, branch("main", body), branch("else", orelse))
    set_state((tuple(after) if nouts else ()) + tuple(before[nouts:]))


def while_stmt(test, body, get_state, set_state, symbol_names, opts):
    # The kind of the condition decides the kind of the loop. What it builds on the way must not stay in the graph.
    with _tf.scratch_graph():
        first = test()
    if _tf.is_dense(first):
        loops.while_loop(test, body, loops.State(get_state, set_state, symbol_names), opts)
    elif first:
        body = _watched(body)
        body()
        while _python_truth(
            test(),
            "The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either"
            " because variables changed type, or when a break or return statement inside the loop depends on a"
            " Tensor condition. In both cases, changing to a TF loop should remove the error.",
        ):
            body()


def for_stmt(iter_, extra_test, body, get_state, set_state, symbol_names, opts):
    """`extra_test` is None or tells whether neither break nor return has ended the loop."""
    loop = _loop_over(iter_)
    if loop is not None:
        return loop(iter_, extra_test, body, loops.State(get_state, set_state, symbol_names), opts)
    body = _watched(body)
    if extra_test is None:
        for element in iter_:
            body(element)
        return None
    refusal = (
        "break and return statements which depend on a TF condition are not supported in Python for loops."
        " Did you intend to make it a TF loop?"
    )
    if _python_truth(extra_test(), refusal):
        for element in iter_:
            body(element)
            if not _python_truth(extra_test(), refusal):
                break
    return None


def _loop_over(iterable):
    """The graph loop for `iterable`; None for what Python iterates over."""
    data = _tf.data_module()
    if data is not None:
        if isinstance(iterable, data.Dataset):
            return loops.for_dataset
        if isinstance(iterable, data.Iterator):
            return loops.for_iterator
        distributed = sys.modules.get("weft._src.distribute.input_types")
        if distributed is not None:
            if isinstance(iterable, distributed.DistributedDatasetInterface):
                return loops.for_distributed
            if isinstance(iterable, distributed.DistributedIteratorInterface):
                return loops.for_iterator
    if _tf.is_tensor(iterable):
        if not isinstance(iterable, _tf.Tensor) and _tf.is_kind(iterable, "RaggedTensor"):
            return loops.for_ragged
        is_range = hasattr(iterable, "op") and iterable.op.type == "Range"
        return loops.for_range if is_range else loops.for_tensor
    return None


def _watched(body):
    """The body of a Python loop, with a warning if the loop runs for long and makes operations each time."""
    if not _tf.in_graph():
        return body
    iterations = 0

    def run(*element):
        nonlocal iterations
        iterations += 1
        if iterations != UNROLLED_ITERATIONS:
            return body(*element)
        before = len(_tf.default_operations())
        body(*element)
        made = tuple(_tf.default_operations()[before:])
        if made:
            log.warning(
                "Large unrolled loop detected. Did you mean to use a TF loop? The following ops were created after"
                " iteration %s: %s\nSee https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/"
                "autograph/g3doc/reference/common_errors.md#warning-large-unrolled-loop-detected\nLocation:\n%s",
                iterations,
                made,
                "\n".join(traceback.format_stack()),
            )
        return None

    return run


def _python_truth(value, refusal):
    try:
        return bool(value)
    except _tf.OperatorNotAllowedInGraphError as e:
        raise NotImplementedError(f"{refusal}\nSee {_LIMITATIONS}") from e
