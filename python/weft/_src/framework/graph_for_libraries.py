"""Private names of TensorFlow's graphs and operations that libraries use."""


class GraphForLibraries:
    # Branches and loops are functions, so that no node is in a context of theirs.
    _control_flow_context = None

    def _get_control_flow_context(self):
        return self._control_flow_context

    def _set_control_flow_context(self, ctx):
        self._control_flow_context = ctx

    @property
    def _building_function(self):
        return self.building_function

    @property
    def _graph_key(self):
        return f"graph-key-{id(self)}/"

    def _create_op_from_tf_operation(self, c_op, compute_device=True):
        """The operation that tf.__internal__.create_c_op has added: nodes have no other handle here."""
        if compute_device:
            self._apply_device_functions(c_op)
        return c_op


class OperationForLibraries:
    def _control_flow_post_processing(self, input_tensors=None):
        """Nothing is left to do: no node is in a context of control flow."""

    def _set_device_from_string(self, device):
        self._set_device(device)
