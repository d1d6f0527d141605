"""Lists and items: Python's, TensorArray and tensor lists (variant tensors)."""

import collections

from . import _tf

GetItemOpts = collections.namedtuple("GetItemOpts", ("element_dtype",))
ListPopOpts = collections.namedtuple("ListPopOpts", ("element_dtype", "element_shape"))
ListStackOpts = collections.namedtuple("ListStackOpts", ("element_dtype", "original_call"))


def _is_tensor_list(x):
    return _tf.is_tensor(x) and x.dtype == _tf.variant


def _need_tensor_list(x):
    if not _is_tensor_list(x):
        raise ValueError(f"tensor lists are expected to be Tensors with dtype=tf.variant, instead found {x}")


def new_list(iterable=None):
    """A list with elements is Python's; an empty one may be filled in a loop and is a tensor list."""
    elements = list(iterable) if iterable else []
    return elements or _tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=_tf.variant)


def list_append(list_, x):
    if _tf.is_kind(list_, "TensorArray"):
        return list_.write(list_.size(), x)
    if not _tf.is_tensor(list_):
        list_.append(x)
        return list_
    _need_tensor_list(list_)

    def typed():
        element = _tf.convert_to_tensor(x)
        return _tf.raw_ops.EmptyTensorList(
            element_shape=_tf.shape(element), max_num_elements=-1, element_dtype=element.dtype
        )

    # The first element tells what an empty list holds.
    list_ = _tf.cond(_tf.raw_ops.TensorListLength(input_handle=list_) > 0, lambda: list_, typed)
    return _tf.raw_ops.TensorListPushBack(input_handle=list_, tensor=_tf.convert_to_tensor(x))


def list_pop(list_, i, opts):
    """The list without the element, and the element."""
    if _tf.is_kind(list_, "TensorArray"):
        raise ValueError("TensorArray does not support item removal")
    if not _tf.is_tensor(list_):
        x = list_.pop() if i is None else list_.pop(i)
        return list_, x
    _need_tensor_list(list_)
    if i is not None:
        raise NotImplementedError("tensor lists only support removing from the end")
    for what, value in (("type", opts.element_dtype), ("shape", opts.element_shape)):
        if value is None:
            raise ValueError(
                f"cannot pop from a list without knowing its element {what}; use set_element_type to annotate it"
            )
    shorter, x = _tf.raw_ops.TensorListPopBack(input_handle=list_, element_shape=-1, element_dtype=opts.element_dtype)
    x.set_shape(opts.element_shape)
    return shorter, x


def list_stack(list_, opts):
    if _tf.is_kind(list_, "TensorArray"):
        return list_.stack()
    if not _tf.is_tensor(list_):
        return opts.original_call(list_)
    if not _is_tensor_list(list_):
        return list_
    if opts.element_dtype is None:
        raise ValueError("cannot stack a list without knowing its element type; use set_element_type to annotate it")
    return _tf.raw_ops.TensorListStack(
        input_handle=list_, element_shape=-1, element_dtype=opts.element_dtype, num_elements=-1
    )


def get_item(target, i, opts):
    if _tf.is_kind(target, "TensorArray"):
        return target.read(i)
    if _is_tensor_list(target):
        if opts.element_dtype is None:
            raise ValueError(
                "cannot retrieve from a list without knowing its element type; use set_element_type to annotate it"
            )
        return _tf.raw_ops.TensorListGetItem(
            input_handle=target, index=i, element_shape=-1, element_dtype=opts.element_dtype
        )
    if _tf.is_tensor(target) and target.dtype == _tf.string and target.shape.rank == 0:
        return _tf.raw_ops.Substr(input=target, pos=i, len=1)
    return target[i]


def set_item(target, i, x):
    """`target` with `x` at `i`: a tensor is not changed, a list is."""
    if _tf.is_kind(target, "TensorArray"):
        return target.write(i, x)
    if _is_tensor_list(target):
        return _tf.raw_ops.TensorListSetItem(input_handle=target, index=i, item=_tf.convert_to_tensor(x))
    if _tf.is_tensor(target):
        return _tf.tensor_scatter_nd_update(target, ((i,),), (x,))
    target[i] = x
    return target
