"""Optimisers of version 1: they add nodes to graphs, and work eagerly too."""

import contextlib

from weft import _weft
from weft._src.raw import raw
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import control_dependencies, init_scope, name_scope_v1
from weft._src.framework.tensor import Tensor
from weft._src.trackable.base import CheckpointInitialValueCallable, Trackable
from weft._src.trackable.variable import Variable, _creators


def _var_key(v):
    """What tells variables apart: their addresses are given again when they are freed."""
    container = getattr(v, "_distributed_container", None)
    v = v if container is None else container()
    return (v.graph, v.op.name) if v._in_graph_mode else v._unique_id


def _beside(v):
    """A context in which nodes are placed with a variable of this graph."""
    here = _weft.in_graph() and getattr(v, "_in_graph_mode", False) and v.graph is _weft.current_graph()
    return v.graph.colocate_with(v.op) if here else contextlib.nullcontext()


def _version_1_graph():
    """The graph of version 1 that is built here, if one is."""
    graph = _weft.current_graph() if _weft.in_graph() else None
    while graph is not None and graph.building_function:
        graph = graph._native.outer
    return graph


class Optimizer(Trackable):
    """Computes gradients and applies them."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking, name, use_own_namescope_for_non_slot_vars=False):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        self._own_namescope = use_own_namescope_for_non_slot_vars
        self._slots = {}  # slot name -> key of a variable -> (variable, slot)
        self._deferred_slot_restorations = {}  # the same -> positions in checkpoints
        self._others_of = {}  # graph of version 1 or None -> name -> variable that belongs to none

    def get_name(self):
        return self._name

    # ---- the two steps

    def minimize(
        self,
        loss,
        global_step=None,
        var_list=None,
        gate_gradients=GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        name=None,
        grad_loss=None,
    ):
        """Computes the gradients of the loss and applies them."""
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        if not any(g is not None for g, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, between variables "
                f"{[str(v) for _, v in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        """(gradient, variable) for each."""
        if callable(loss) and not isinstance(loss, Tensor):
            from weft._src.gradients.tape import GradientTape

            with GradientTape() as tape:
                if var_list is not None:
                    tape.watch(var_list)
                value = loss()
            var_list = list(tape.watched_variables()) if var_list is None else list(var_list)
            return list(zip(tape.gradient(value, var_list, grad_loss), var_list))
        if not _weft.in_graph():
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled."
            )
        from weft._src.compat.v1.variables import trainable_variables
        from weft._src.gradients.graph import gradients

        var_list = (
            trainable_variables()
            if var_list is None
            else [var_list]
            if isinstance(var_list, _weft.VariableBase)
            else list(var_list)
        )
        if not var_list:
            raise ValueError("No variables to optimize.")
        return list(zip(gradients(loss, var_list, grad_ys=grad_loss), var_list))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Changes the variables; in a graph, the op that does."""
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        used = [(g, v) for g, v in pairs if g is not None]
        if not used:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        with init_scope():
            self._create_slots([v for _, v in used])
        with name_scope_v1(name, self._name) as scope:
            self._prepare()
            updates = []
            for gradient, v in used:
                label = v.op.name.replace("/", "_") if v._in_graph_mode else ""
                with name_scope_v1("update_" + label), _beside(v):
                    updates.append(self._update(convert_to_tensor(gradient), v))
            last = self._finish(updates)
            if not _weft.in_graph():
                if global_step is not None:
                    global_step.assign_add(1)
                return None
            with control_dependencies(last):
                if global_step is None:
                    op = raw.NoOp(name=scope)
                else:
                    with _beside(global_step):
                        one = convert_to_tensor(1, dtype=global_step.dtype)
                        op = raw.AssignAddVariableOp(resource=global_step.handle, value=one, name=scope)
        _weft.current_graph().add_to_collections("train_op", op)
        return op

    def _update(self, gradient, v):
        """One variable's step, with its constraint."""
        op = self._apply(gradient, v)
        if v.constraint is None:
            return op
        with control_dependencies([op] if op is not None else None):
            return v.assign(v.constraint(v.value()), read_value=False)

    def _prepare(self):
        pass

    def _create_slots(self, var_list):
        pass

    def _apply(self, gradient, v):
        raise NotImplementedError

    def _finish(self, updates):
        return updates

    # ---- variables of its own

    def _slot(self, v, slot_name, op_name=None, value=0.0):
        """The variable of this use beside v, filled with a value at first."""
        found = self._slots.setdefault(slot_name, {}).get(_var_key(v))
        if found is not None:
            return found[1]
        from weft._src.ops.array_ops import fill

        with name_scope_v1(None), _beside(v):
            first = fill(v.shape.as_list(), convert_to_tensor(value, dtype=v.dtype))
        made = self._new_slot(v, slot_name, op_name, first)
        waiting = self._deferred_slot_restorations.get(slot_name, {}).pop(_var_key(v), ())
        for position in sorted(waiting, key=lambda p: p.restore_uid, reverse=True):
            position.restore(made)
        return made

    def _new_slot(self, v, slot_name, op_name, first):
        base = v.op.name if v._in_graph_mode else v._shared_name
        with name_scope_v1(None), _beside(v):
            made = Variable(first, trainable=False, name=self._unique(f"{base}/{op_name or self._name}"))
        info = getattr(v, "_save_slice_info", None)
        if info is not None:
            made._save_slice_info = type(info)(
                f"{info.full_name}/{op_name or self._name}", info.full_shape, info.var_offset, info.var_shape
            )
        self._slots.setdefault(slot_name, {})[_var_key(v)] = (v, made)
        return made

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
        """A checkpoint holds a slot of this variable: it is made eagerly, or restored when it is made."""
        slot = self.get_slot(variable, slot_name)
        if slot is None and not _weft.in_graph() and slot_variable_position.is_simple_variable() and not _creators():
            first = CheckpointInitialValueCallable(slot_variable_position)
            slot = self._new_slot(variable, slot_name, None, first)
        if slot is not None:
            slot_variable_position.restore(slot)
            return
        waiting = self._deferred_slot_restorations.setdefault(slot_name, {})
        waiting.setdefault(_var_key(variable), []).append(slot_variable_position)

    def _unique(self, name):
        taken = {s._shared_name for slots in self._slots.values() for _, s in slots.values()}
        made, i = name, 1
        while made in taken:
            made, i = f"{name}_{i}", i + 1
        return made

    def _other(self, name, value, like):
        if name not in self._others:
            with name_scope_v1(None), _beside(like):
                first = self._preload_simple_restoration(name) if not _weft.in_graph() else None
                first = convert_to_tensor(value, dtype=like.dtype) if first is None else first
                called = f"{self._name}/{name}" if self._own_namescope else name
                self._others[name] = Variable(first, trainable=False, name=called)
            self._handle_deferred_dependencies(name, self._others[name])
        return self._others[name]

    def get_slot(self, var, name):
        found = self._slots.get(name, {}).get(_var_key(var))
        return None if found is None else found[1]

    def get_slot_names(self):
        return sorted(self._slots)

    def variables(self):
        """All variables of its own."""
        made = [s for slots in self._slots.values() for _, s in slots.values()] + list(self._others.values())
        graph = _version_1_graph()
        return sorted((v for v in made if (v.graph if v._in_graph_mode else None) is graph), key=lambda v: v.name)

    @property
    def _others(self):
        """The variables that belong to none, by name; each graph of version 1 has its own."""
        return self._others_of.setdefault(_version_1_graph(), {})

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {**super()._trackable_children(save_type, **kwargs), **self._others}

    @staticmethod
    def _number(value, v):
        value = value() if callable(value) and not isinstance(value, Tensor) else value
        if isinstance(value, Tensor) and value.dtype is not v.dtype:
            return raw.Cast(x=value, DstT=v.dtype)
        return convert_to_tensor(value, dtype=v.dtype)


class GradientDescentOptimizer(Optimizer):
    """w -= rate * gradient"""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _apply(self, gradient, v):
        return raw.ResourceApplyGradientDescent(
            var=v.handle, alpha=self._number(self._learning_rate, v), delta=gradient, use_locking=self._use_locking
        )


class MomentumOptimizer(Optimizer):
    """Steps that keep a part of the one before."""

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._slot(v, "momentum")

    def _apply(self, gradient, v):
        return raw.ResourceApplyMomentum(
            var=v.handle,
            accum=self.get_slot(v, "momentum").handle,
            lr=self._number(self._learning_rate, v),
            grad=gradient,
            momentum=self._number(self._momentum, v),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )


class AdamOptimizer(Optimizer):
    """Adam: steps by running means of the gradient and of its square."""

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-08,
        use_locking=False,
        name="Adam",
        use_own_namescope_for_non_slot_vars=False,
    ):
        super().__init__(use_locking, name, use_own_namescope_for_non_slot_vars)
        self._learning_rate, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._other("beta1_power", self._beta1, first)
        self._other("beta2_power", self._beta2, first)
        for v in var_list:
            self._slot(v, "m")
            self._slot(v, "v")

    def _apply(self, gradient, v):
        cast = lambda power: convert_to_tensor(raw.Cast(x=power.value(), DstT=v.dtype))  # noqa: E731
        return raw.ResourceApplyAdam(
            var=v.handle,
            m=self.get_slot(v, "m").handle,
            v=self.get_slot(v, "v").handle,
            beta1_power=cast(self._others["beta1_power"]),
            beta2_power=cast(self._others["beta2_power"]),
            lr=self._number(self._learning_rate, v),
            beta1=self._number(self._beta1, v),
            beta2=self._number(self._beta2, v),
            epsilon=self._number(self._epsilon, v),
            grad=gradient,
            use_locking=self._use_locking,
        )

    def _finish(self, updates):
        powers = [(self._others["beta1_power"], self._beta1), (self._others["beta2_power"], self._beta2)]
        with control_dependencies(updates if _weft.in_graph() else None), _beside(powers[0][0]):
            after = [p.assign(p.value() * self._number(beta, p), read_value=False) for p, beta in powers]
        return [*updates, *after]


class AdagradOptimizer(Optimizer):
    """Steps that shrink with the sum of squares of all gradients."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value

    def _create_slots(self, var_list):
        for v in var_list:
            self._slot(v, "accumulator", value=self._initial)

    def _apply(self, gradient, v):
        return raw.ResourceApplyAdagrad(
            var=v.handle,
            accum=self.get_slot(v, "accumulator").handle,
            lr=self._number(self._learning_rate, v),
            grad=gradient,
            use_locking=self._use_locking,
        )


class AdadeltaOptimizer(Optimizer):
    """Steps by the ratio of running means of steps and of gradients."""

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-08, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._learning_rate, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, var_list):
        for v in var_list:
            self._slot(v, "accum")
            self._slot(v, "accum_update")

    def _apply(self, gradient, v):
        return raw.ResourceApplyAdadelta(
            var=v.handle,
            accum=self.get_slot(v, "accum").handle,
            accum_update=self.get_slot(v, "accum_update").handle,
            lr=self._number(self._learning_rate, v),
            rho=self._number(self._rho, v),
            epsilon=self._number(self._epsilon, v),
            grad=gradient,
            use_locking=self._use_locking,
        )


class RMSPropOptimizer(Optimizer):
    """Gradients divided by the root of the running mean of their squares."""

    def __init__(
        self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False, name="RMSProp"
    ):
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum, self._epsilon, self._centered = (
            learning_rate,
            decay,
            momentum,
            epsilon,
            centered,
        )

    def _create_slots(self, var_list):
        for v in var_list:
            self._slot(v, "rms", value=1.0)
            if self._centered:
                self._slot(v, "mg")
            self._slot(v, "momentum")

    def _apply(self, gradient, v):
        shared = dict(
            var=v.handle,
            ms=self.get_slot(v, "rms").handle,
            mom=self.get_slot(v, "momentum").handle,
            lr=self._number(self._learning_rate, v),
            rho=self._number(self._decay, v),
            momentum=self._number(self._momentum, v),
            epsilon=self._number(self._epsilon, v),
            grad=gradient,
            use_locking=self._use_locking,
        )
        if self._centered:
            return raw.ResourceApplyCenteredRMSProp(mg=self.get_slot(v, "mg").handle, **shared)
        return raw.ResourceApplyRMSProp(**shared)


class FtrlOptimizer(Optimizer):
    """Follow the regularised leader."""

    def __init__(
        self,
        learning_rate,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="Ftrl",
        accum_name=None,
        linear_name=None,
        l2_shrinkage_regularization_strength=0.0,
        beta=None,
    ):
        super().__init__(use_locking, name)
        if initial_accumulator_value < 0.0:
            raise ValueError(f"initial_accumulator_value {initial_accumulator_value} needs to be positive or zero")
        self._learning_rate, self._power, self._initial = learning_rate, learning_rate_power, initial_accumulator_value
        self._l1, self._l2, self._shrinkage = (
            l1_regularization_strength,
            l2_regularization_strength + (beta or 0.0) / (2.0 * learning_rate) if beta else l2_regularization_strength,
            l2_shrinkage_regularization_strength,
        )
        self._names = (accum_name, linear_name)

    def _create_slots(self, var_list):
        for v in var_list:
            self._slot(v, "accum", self._names[0] or self._name, self._initial)
            self._slot(v, "linear", self._names[1] or self._name)

    def _apply(self, gradient, v):
        shared = dict(
            var=v.handle,
            accum=self.get_slot(v, "accum").handle,
            linear=self.get_slot(v, "linear").handle,
            grad=gradient,
            lr=self._number(self._learning_rate, v),
            l1=self._number(self._l1, v),
            l2=self._number(self._l2, v),
            lr_power=self._number(self._power, v),
            use_locking=self._use_locking,
        )
        if self._shrinkage > 0:
            return raw.ResourceApplyFtrlV2(l2_shrinkage=self._number(self._shrinkage, v), **shared)
        return raw.ResourceApplyFtrl(**shared)
