"""tf.compat.v1.profiler.ProfileOptionBuilder: a dictionary of options, made step by step."""

import copy

_EVERY = [".*"]
_SHARED = {
    "max_depth": 10000,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "min_occurrence": 0,
    "order_by": "name",
    "account_type_regexes": _EVERY,
    "start_name_regexes": _EVERY,
    "trim_name_regexes": [],
    "show_name_regexes": _EVERY,
    "hide_name_regexes": [],
    "account_displayed_op_only": True,
    "select": ["params"],
    "step": -1,
    "output": "stdout",
}


class ProfileOptionBuilder:
    """Options of tf.compat.v1.profiler.profile."""

    def __init__(self, options=None):
        if options is not None:
            self._options = copy.deepcopy(options)
        else:
            self._options = {
                **copy.deepcopy(_SHARED),
                "max_depth": 100,
                "account_displayed_op_only": False,
                "select": ["micros"],
            }

    @staticmethod
    def trainable_variables_parameter():
        return {**copy.deepcopy(_SHARED), "account_type_regexes": ["_trainable_variables"]}

    @staticmethod
    def float_operation():
        return {**copy.deepcopy(_SHARED), "min_float_ops": 1, "select": ["float_ops"], "order_by": "float_ops"}

    @staticmethod
    def time_and_memory(
        min_micros=1,
        min_bytes=1,
        min_accelerator_micros=0,
        min_cpu_micros=0,
        min_peak_bytes=0,
        min_residual_bytes=0,
        min_output_bytes=0,
    ):
        own = dict(
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )
        shared = copy.deepcopy(_SHARED)
        made = {"max_depth": shared.pop("max_depth"), "min_bytes": min_bytes, **own}
        made.update({name: value for name, value in shared.items() if name not in made})
        return {**made, "order_by": "micros", "select": ["micros", "bytes"]}

    def build(self):
        return copy.deepcopy(self._options)

    def _with(self, **options):
        self._options.update(options)
        return self

    def with_max_depth(self, max_depth):
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes=0, min_peak_bytes=0, min_residual_bytes=0, min_output_bytes=0):
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(self, min_micros=0, min_accelerator_micros=0, min_cpu_micros=0):
        return self._with(
            min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros
        )

    def with_min_parameters(self, min_params):
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence):
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops):
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes):
        return self._with(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(
        self, start_name_regexes=None, show_name_regexes=None, hide_name_regexes=None, trim_name_regexes=None
    ):
        given = dict(
            start_name_regexes=start_name_regexes,
            show_name_regexes=show_name_regexes,
            hide_name_regexes=hide_name_regexes,
            trim_name_regexes=trim_name_regexes,
        )
        return self._with(**{name: copy.copy(value) for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true):
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self):
        return self._with(output="none")

    def with_stdout_output(self):
        return self._with(output="stdout")

    def with_file_output(self, outfile):
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file):
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file):
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute):
        return self._with(order_by=attribute)

    def select(self, attributes):
        return self._with(select=copy.copy(attributes))

    def with_step(self, step):
        return self._with(step=step)
