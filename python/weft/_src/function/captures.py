"""FunctionCaptures: what a traced function takes from outside, as tensorflow.core.function.capture shows it."""


class FunctionCaptures:
    """The captures of a FuncGraph at the time of asking, by the identity of the tensor outside. The dictionaries are copies: a change of them changes no function."""

    def __init__(self, graph):
        handles = {v._outer_handle()._identity(): v.handle for v in graph.variables if v._has_state()}
        pairs = [(handles.get(outer._identity(), outer), inner) for outer, inner in graph.captures]
        self.by_val_capture_tuples = pairs
        self.by_val_external = {id(outer): outer for outer, _ in pairs}
        self.by_val_internal = {id(outer): inner for outer, inner in pairs}
        closures, inner = graph.deferred_external_captures, graph.deferred_internal_captures
        self.by_ref_external = dict(enumerate(closures))
        self.by_ref_internal = dict(enumerate(inner))

    @property
    def by_val_tracetype(self):
        from weft._src.framework.type_spec import TensorSpec

        return {key: TensorSpec(inner.shape, inner.dtype) for key, inner in self.by_val_internal.items()}

    capture_types = by_val_tracetype
