"""tf.compat.v1: version 1's API. What means the same in both versions is tf's."""

import importlib as _importlib

# module -> names, loaded when one is first asked for; "public=own" as in weft/_top.py.
_MODULES = {
    "weft.ops.sparse_tensor": "SparseTensorValue",
    "weft.ops.sparse_ops": "sparse_add=add sparse_fill_empty_rows=fill_empty_rows sparse_mask=mask sparse_maximum=maximum sparse_minimum=minimum sparse_placeholder "
                           "sparse_reorder=reorder sparse_reset_shape=reset_shape sparse_reshape=reshape sparse_retain=retain sparse_slice=slice sparse_softmax=softmax "
                           "sparse_tensor_dense_matmul=sparse_dense_matmul sparse_tensor_to_dense=to_dense sparse_to_dense sparse_to_indicator=to_indicator "
                           "sparse_transpose=transpose",
    "weft.compat.v1.graphs": "placeholder placeholder_with_default",
}
_NAMESPACES = ""
_names = {}
for _module, _text in _MODULES.items():
    for _name in _text.split():
        _public, _, _own = _name.partition("=")
        _names[_public] = (_module, _own or _public)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    found = _names.get(name)
    if found is not None:
        value = getattr(_importlib.import_module(found[0]), found[1])
    elif name in _NAMESPACES.split():
        value = _importlib.import_module("weft.compat.v1." + name)
    else:
        value = _of_version_2(name)
    globals()[name] = value
    return value


def _of_version_2(name):
    import weft

    try:
        return getattr(weft, name)
    except AttributeError:
        pass
    from weft import proto

    try:
        return getattr(proto, name)
    except AttributeError:
        raise AttributeError(f"module 'tf.compat.v1' has no attribute {name!r} (weft does not have tf.compat.v1.{name})") from None
