"""top_k and its kin."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.dispatch import dispatchable
from weft._src.ops._direct import scope


@dispatchable
def top_k(input, k=1, sorted=True, index_type=dtypes.int32, name=None):
    """The k greatest of the last axis and their places."""
    return raw.TopKV2(input=input, k=k, sorted=sorted, index_type=index_type, name=name)


@dispatchable
def in_top_k(targets, predictions, k, name=None):
    """Whether the class of each row is among its k greatest."""
    with scope(name, "in_top_k"):
        return raw.InTopKV2(predictions=predictions, targets=targets, k=k)


@dispatchable
def approx_max_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The k greatest along an axis, almost surely all of them, and their places."""
    return _approximate(
        operand, k, reduction_dimension, recall_target, True, reduction_input_size_override, aggregate_to_topk, name
    )


@dispatchable
def approx_min_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The k least along an axis, almost surely all of them, and their places."""
    return _approximate(
        operand, k, reduction_dimension, recall_target, False, reduction_input_size_override, aggregate_to_topk, name
    )


def _approximate(operand, k, axis, recall, greatest, override, aggregate, name):
    return raw.ApproxTopK(
        input=operand,
        k=k,
        reduction_dimension=axis,
        recall_target=recall,
        is_max_k=greatest,
        reduction_input_size_override=override,
        aggregate_to_topk=aggregate,
        name=name,
    )


def approx_top_k(
    input,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    is_max_k=True,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The op ApproxTopK."""
    return _approximate(
        input, k, reduction_dimension, recall_target, is_max_k, reduction_input_size_override, aggregate_to_topk, name
    )
