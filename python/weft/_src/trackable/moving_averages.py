"""tf.train.ExponentialMovingAverage: running means of variables and tensors."""

import itertools

from weft import _weft
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import (
    control_dependencies,
    executing_eagerly_outside_functions,
    init_scope,
    name_scope_v1,
)
from weft._src.trackable.variable import Variable


def assign_debiased(variable, value, part):
    """Moves a mean that began at zero to the mean of the values so far (Kingma et al., 2015): two variables beside it hold the biased mean and the number of
    steps. `part` is what a new value counts."""
    from weft._src.compat.v1 import initializers, variables

    with variables.variable_scope(variable.name.rpartition(":")[0], values=[variable, value, part]) as scope:

        def beside(name, shape):
            taken = {v.op.name for v in scope.global_variables()}
            free = (n for n in itertools.chain([name], (f"{name}_{i}" for i in itertools.count(1))))
            if not scope.reuse:
                name = next(n for n in free if f"{scope.name}/{n}" not in taken)
            zeros = initializers.Zeros()
            return variables.get_variable(name, shape=shape, dtype=variable.dtype, initializer=zeros, trainable=False)

        biased, steps = beside("biased", variable.shape), beside("local_step", [])
        mean = biased.assign_sub((biased - value) * part)
        factor = 1 - (1.0 - part) ** steps.assign_add(1)
        return variable.assign(mean / factor)


class ExponentialMovingAverage:
    """average = decay * average + (1 - decay) * value, at every apply()."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages = {}  # id -> (what it is of, its average)

    @property
    def name(self):
        return self._name

    def apply(self, var_list=None):
        """Updates the averages, which are made at the first call; in a graph, the op that does."""
        from weft._src.function.control_flow import group
        from weft._src.ops import math_ops

        if var_list is None:
            from weft._src.compat.v1.variables import trainable_variables

            var_list = trainable_variables()
        for v in var_list:
            if not isinstance(v, _weft.VariableBase) and executing_eagerly_outside_functions():
                raise TypeError(
                    "tf.train.ExponentialMovingAverage does not support non-Variable tensors when eager execution is enabled."
                )
        debiased = set()
        for v in var_list:
            if not v.dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {v.name}")
            if id(v) not in self._averages:
                self._averages[id(v)] = (v, self._new(v))
                if self._zero_debias and not isinstance(v, _weft.VariableBase):
                    debiased.add(id(v))
        decay = convert_to_tensor(self._decay, name="decay")
        if self._num_updates is not None:
            steps = math_ops.cast(
                self._num_updates.value() if isinstance(self._num_updates, _weft.VariableBase) else self._num_updates,
                decay.dtype,
            )
            decay = math_ops.minimum(decay, (1.0 + steps) / (10.0 + steps))
        updates = []
        with name_scope_v1(self._name):
            for v in var_list:
                average = self._averages[id(v)][1]
                value = v.value() if isinstance(v, _weft.VariableBase) else v
                part = math_ops.cast(1.0 - decay, average.dtype)
                if id(v) in debiased:
                    updates.append(assign_debiased(average, value, part).op)
                    continue
                updates.append(average.assign_sub((average.value() - value) * part, read_value=False))
        if not _weft.in_graph():
            return None
        return group(*updates, name=self._name)

    def _new(self, v):
        with init_scope(), control_dependencies(None), name_scope_v1(None):
            if isinstance(v, _weft.VariableBase):
                first = v.initial_value if getattr(v, "_in_graph_mode", False) else v.value()
                base = v._shared_name
                if _weft.in_graph():
                    _weft.current_graph().add_to_collections("moving_average_variables", v)
            else:
                from weft._src.ops.array_ops import zeros

                first, base = zeros(v.shape.as_list(), v.dtype), v.op.name
            if _weft.in_graph():
                from weft._src.compat.v1.variables import get_variable_scope

                around = get_variable_scope().name
                base = f"{around}/{base}" if around else base
            return Variable(first, trainable=False, name=f"{base}/{self._name}")

    def average(self, var):
        """The variable with the average; None where apply() was not told of this one."""
        found = self._averages.get(id(var))
        return None if found is None else found[1]

    def average_name(self, var):
        found = self.average(var)
        if found is not None:
            return found._shared_name
        return f"{var._shared_name if isinstance(var, _weft.VariableBase) else var.op.name}/{self._name}"

    def variables_to_restore(self, moving_avg_variables=None):
        """name in the checkpoint -> variable: averages in the place of variables that have one."""
        from weft._src.compat.v1.variables import global_variables, moving_average_variables, trainable_variables

        averaged = (
            list(moving_avg_variables)
            if moving_avg_variables is not None
            else trainable_variables() + moving_average_variables()
        )
        out = {self.average_name(v): v for v in averaged}
        shadows = {a._shared_name for v, a in self._averages.values() if isinstance(v, _weft.VariableBase)}
        for v in global_variables():
            if not any(v is m for m in averaged) and v._shared_name not in shadows and v._shared_name not in out:
                out[v._shared_name] = v
        return out
