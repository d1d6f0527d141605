"""Functions without variables. tf2onnx, tf-keras."""


class _FunctionConverterData:
    """A function that is to be frozen."""

    def __init__(
        self, func, lower_control_flow, aggressive_inlining, variable_names_allowlist=None, variable_names_denylist=None
    ):
        self.func = func


class _FunctionConverterDataInEager(_FunctionConverterData):
    pass


class _FunctionConverterDataInGraph(_FunctionConverterData):
    pass


def _replace_variables_by_constants(converter_data):
    """(GraphDef with constants, the inputs that were variables)."""
    from weft._src.saved_model.freeze import frozen_graph_def

    func = converter_data.func
    variables = {v._eager_handle()._identity(): v for v in func.variables}
    values, converted = {}, set()
    for i, (outer, inner) in enumerate(func.graph.captures):
        v = variables.get(outer._identity())
        if v is not None:
            values[inner.op.name] = v.value()
            converted.add(i)
        elif outer.dtype.name not in ("resource", "variant"):
            values[inner.op.name] = outer
            converted.add(i)
    return frozen_graph_def(func.graph.as_graph_def(), values), converted
