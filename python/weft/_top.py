"""Where the names of `tf.` are: module -> names, loaded when a name is first asked for. One line for each module; a name may be "public=own"."""

MODULES = {
    "weft.framework.dtypes": "DType as_dtype float16 float32 float64 bfloat16 half double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 "
                             "complex128 qint8 quint8 qint16 quint16 qint32 resource variant",
    "weft.framework.tensor_shape": "TensorShape",
    "weft.framework.tensor": "Tensor is_tensor",
    "weft.framework.convert": "constant convert_to_tensor register_tensor_conversion_function get_static_value=constant_value",
    "weft.framework.graph": "Graph Operation name_scope control_dependencies init_scope executing_eagerly inside_function",
    "weft.trackable.variable": "Variable VariableSynchronization VariableAggregation=VariableAggregationV2 variable_creator_scope",
    "weft.gradients.tape": "GradientTape UnconnectedGradients",
    "weft.proto.tensors": "make_tensor_proto make_ndarray",
    "weft.framework.type_spec": "TypeSpec TensorSpec type_spec_from_value",
    "weft.framework.indexed_slices": "IndexedSlices IndexedSlicesSpec",
    "weft.function.function": "function",
}

# The public namespaces that are modules of their own: `tf.math` is weft/math.py.
NAMESPACES = "autograph compat data errors nest raw_ops train io".split()


def names():
    """name -> (module, attribute)"""
    table = {}
    for module, text in MODULES.items():
        for name in text.split():
            public, _, own = name.partition("=")
            table[public] = (module, own or public)
    return table
