"""tf.train.ExponentialMovingAverage."""

from weft import _weft
from weft._raw import raw
from weft.framework.graph import init_scope
from weft.trackable.variable import Variable


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """variable -= (1 - decay) * (variable - value)"""
    if zero_debias:
        raise NotImplementedError("assign_moving_average(zero_debias=True)")
    value = _weft.convert(value, variable.dtype, None)
    share = raw.Cast(x=raw.Sub(x=_weft.convert(1.0, variable.dtype, None), y=_weft.convert(decay, variable.dtype, None)), DstT=variable.dtype)
    return variable.assign_sub((variable - value) * share)


class ExponentialMovingAverage:
    """Averages of variables, in which the latest values count most."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages = {}  # by reference to the variable

    @property
    def name(self):
        return self._name

    def _check(self, v):
        if not isinstance(v, _weft.VariableBase):
            raise TypeError("tf.train.ExponentialMovingAverage does not support non-Variable tensors when eager execution is enabled.")
        if not v.dtype.is_floating:
            raise TypeError(f"The variables must be half, float, or double: {v}")

    def apply(self, var_list=None):
        """One step: makes the averages where they are not there yet."""
        if var_list is None:
            raise ValueError("ExponentialMovingAverage.apply() needs the variables: there is no collection of them when eager execution is enabled.")
        for v in var_list:
            self._check(v)
            if v.ref() not in self._averages:
                with init_scope():
                    self._averages[v.ref()] = Variable(v.value(), trainable=False, name=self.average_name(v))
        updates = []
        for v in var_list:
            average = self._averages[v.ref()]
            decay = _weft.convert(self._decay, v.dtype, None)
            if self._num_updates is not None:
                n = raw.Cast(x=self._num_updates, DstT=v.dtype)
                decay = raw.Minimum(x=decay, y=(1.0 + n) / (10.0 + n))
            # A variable's average starts at its value, so that there are no zeros to take out.
            updates.append(average.assign_sub((average - v) * (1.0 - decay)))
        return None if not _weft.in_graph() else _group(updates)

    def average(self, var):
        """The variable that holds the average, or None."""
        return self._averages.get(var.ref())

    def average_name(self, var):
        return f"{var._shared_name}/{self._name}"

    def variables_to_restore(self, moving_avg_variables=None):
        """name -> variable, to restore the averages in the places of the variables."""
        if moving_avg_variables is None:
            raise ValueError("variables_to_restore() needs the variables: there is no collection of them when eager execution is enabled.")
        return {self.average_name(v): v for v in moving_avg_variables}


def _group(updates):
    from weft.function.control_flow import group

    return group(*[u.op for u in updates])
