"""Optimizers of version 1 that pull variables towards zero: proximal steps and dual averaging."""

from weft._src.raw import raw
from weft._src.compat.v1.train.optimizers import Optimizer
from weft._src.framework import dtypes


class ProximalGradientDescentOptimizer(Optimizer):
    """A step of gradient descent, then a proximal step for the norms."""

    def __init__(
        self,
        learning_rate,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _apply(self, gradient, v):
        return raw.ResourceApplyProximalGradientDescent(
            var=v.handle,
            alpha=self._number(self._learning_rate, v),
            l1=self._number(self._l1, v),
            l2=self._number(self._l2, v),
            delta=gradient,
            use_locking=self._use_locking,
        )


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad with a proximal step for the norms."""

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalAdagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _create_slots(self, var_list):
        for v in var_list:
            self._slot(v, "accumulator", self._name, self._initial)

    def _apply(self, gradient, v):
        return raw.ResourceApplyProximalAdagrad(
            var=v.handle,
            accum=self.get_slot(v, "accumulator").handle,
            lr=self._number(self._learning_rate, v),
            l1=self._number(self._l1, v),
            l2=self._number(self._l2, v),
            grad=gradient,
            use_locking=self._use_locking,
        )


class AdagradDAOptimizer(Optimizer):
    """Adagrad by dual averaging, for sparse linear models."""

    def __init__(
        self,
        learning_rate,
        global_step,
        initial_gradient_squared_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="AdagradDA",
    ):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_gradient_squared_accumulator_value must be positive: {initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_gradient_squared_accumulator_value
        self._l1, self._l2, self._global_step = l1_regularization_strength, l2_regularization_strength, global_step

    def _create_slots(self, var_list):
        for v in var_list:
            self._slot(v, "gradient_accumulator", self._name)
            self._slot(v, "gradient_squared_accumulator", self._name, self._initial)

    def _apply(self, gradient, v):
        step = raw.Cast(x=self._global_step.read_value(), DstT=dtypes.int64) + 1
        return raw.ResourceApplyAdagradDA(
            var=v.handle,
            gradient_accumulator=self.get_slot(v, "gradient_accumulator").handle,
            gradient_squared_accumulator=self.get_slot(v, "gradient_squared_accumulator").handle,
            grad=gradient,
            lr=self._number(self._learning_rate, v),
            l1=self._number(self._l1, v),
            l2=self._number(self._l2, v),
            global_step=step,
            use_locking=self._use_locking,
        )
