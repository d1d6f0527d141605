"""tf.compat.v1: version 1's API. What means the same in both versions is tf's."""

import importlib as _importlib

# module -> names, loaded when one is first asked for; "public=own" as in weft/_top.py.
_MODULES = {
    "weft.ops.sparse_tensor": "SparseTensorValue",
    "weft.ops.sparse_ops": "sparse_add=add sparse_fill_empty_rows=fill_empty_rows sparse_mask=mask sparse_maximum=maximum sparse_minimum=minimum sparse_placeholder "
                           "sparse_reorder=reorder sparse_reset_shape=reset_shape sparse_reshape=reshape sparse_retain=retain sparse_slice=slice sparse_softmax=softmax "
                           "sparse_tensor_dense_matmul=sparse_dense_matmul sparse_tensor_to_dense=to_dense sparse_to_dense sparse_to_indicator=to_indicator "
                           "sparse_transpose=transpose",
    "weft.compat.session": "Session InteractiveSession get_default_session",
    "weft.compat.v1.graphs": "placeholder placeholder_with_default executing_eagerly_outside_functions enable_v2_behavior disable_v2_behavior "
                             "enable_control_flow_v2 disable_control_flow_v2 control_flow_v2_enabled enable_resource_variables disable_resource_variables "
                             "resource_variables_enabled enable_v2_tensorshape disable_v2_tensorshape set_random_seed get_seed Print constant device "
                             "convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor convert_to_tensor=convert_to_tensor_v1 wrap_function",
    "weft.framework.graph": "Graph Operation get_default_graph reset_default_graph disable_eager_execution enable_eager_execution executing_eagerly "
                            "name_scope=name_scope_v1",
    "weft.compat.v1.values": "IndexedSlicesValue Dimension",
    "weft.compat.v1.variables": "GraphKeys AUTO_REUSE add_to_collection add_to_collections get_collection get_collection_ref global_variables local_variables "
                                "model_variables trainable_variables moving_average_variables variables_initializer global_variables_initializer "
                                "local_variables_initializer initialize_variables=variables_initializer initialize_all_variables=global_variables_initializer "
                                "initialize_local_variables=local_variables_initializer tables_initializer all_variables=global_variables "
                                "is_variable_initialized report_uninitialized_variables assert_variables_initialized assign assign_add assign_sub "
                                "scatter_update scatter_add scatter_sub VariableScope get_variable_scope variable_scope variable_op_scope no_regularizer "
                                "get_variable get_local_variable make_template",
    "weft.compat.v1.initializers": "zeros_initializer=Zeros ones_initializer=Ones constant_initializer=Constant random_uniform_initializer=RandomUniform "
                                   "random_normal_initializer=RandomNormal truncated_normal_initializer=TruncatedNormal orthogonal_initializer=Orthogonal "
                                   "variance_scaling_initializer=VarianceScaling glorot_uniform_initializer=GlorotUniform "
                                   "glorot_normal_initializer=GlorotNormal",
    "weft.gradients.graph": "gradients=gradients_v1 hessians AggregationMethod",
    "weft.trackable.variable": "VariableAggregation",
    "weft.framework.importer": "import_graph_def",
    "weft.compat": "dimension_value dimension_at_index",
}
_NAMESPACES = "initializers train losses metrics saved_model graph_util nn layers math python_io gfile lookup io logging app flags data summary"
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
        value = _namespace(name)
    else:
        value = _of_version_2(name)
    globals()[name] = value
    return value


def _namespace(name):
    """A namespace of version 1, or tf's where there is nothing of version 1's in it."""
    try:
        return _importlib.import_module("weft.compat.v1." + name)
    except ModuleNotFoundError as error:
        if error.name != "weft.compat.v1." + name:
            raise
    return _of_version_2(name)


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
