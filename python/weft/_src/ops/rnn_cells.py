"""tf.nn.RNNCell*Wrapper: cells of recurrent networks with something around each step. A cell is any object with call(inputs, state) and the sizes of its state
and output."""

import hashlib
import inspect

import weft as tf
from weft._src.framework import nest
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.trackable.module import Module


class _RNNCellWrapper(Module):
    """What the wrappers share: the cell's sizes, its variables, its building."""

    def __init__(self, cell, name=None, dtype=None, **kwargs):
        super().__init__(name)
        if kwargs:
            raise TypeError(f"Keyword argument not understood: {next(iter(kwargs))}")
        self.cell, self._dtype, self.built = cell, dtype, False
        given = inspect.getfullargspec(cell.call)
        self._expects_training_arg = "training" in given.args or given.varkw is not None

    state_size = property(lambda self: self.cell.state_size)
    output_size = property(lambda self: self.cell.output_size)
    wrapped_cell = property(lambda self: self.cell)

    def build(self, inputs_shape):
        self.cell.build(inputs_shape)
        self.built = True

    def __call__(self, inputs, state, **kwargs):
        inputs = nest.map_structure(convert_to_tensor, inputs)
        if not self.built:
            self.build(nest.map_structure(lambda x: x.shape, inputs))
        return self.call(inputs, state, **kwargs)

    def call(self, inputs, state, **kwargs):
        return self._around(inputs, state, self.cell.call, **kwargs)

    def zero_state(self, batch_size, dtype):
        return self.cell.zero_state(batch_size, dtype)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state. "
                f"Received: batch_size={batch_size}, dtype={dtype}"
            )

        def zeros(size):
            return tf.zeros(tf.concat([[batch_size], tf.TensorShape(size).as_list()], 0), dtype)

        return nest.map_structure(zeros, self.state_size)

    def get_config(self):
        config = {"cell": {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}}
        return {"name": self.name, **config}


class RNNCellDeviceWrapper(_RNNCellWrapper):
    """A cell that runs on a device."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def _around(self, inputs, state, step, **kwargs):
        with tf.device(self._device):
            return step(inputs, state, **kwargs)

    def zero_state(self, batch_size, dtype):
        with tf.device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def get_config(self):
        return {**super().get_config(), "device": self._device}


class RNNCellResidualWrapper(_RNNCellWrapper):
    """A cell whose inputs are added to its outputs."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _around(self, inputs, state, step, **kwargs):
        outputs, state = step(inputs, state, **kwargs)
        return (self._residual_fn or self._sum)(inputs, outputs), state

    @staticmethod
    def _sum(inputs, outputs):
        nest.assert_same_structure(inputs, outputs)
        nest.map_structure(lambda i, o: i.shape.assert_is_compatible_with(o.shape), inputs, outputs)
        return nest.map_structure(lambda i, o: i + o, inputs, outputs)


def _drops(state):
    """TensorArrays and the memory of LSTM cells, which goes through all steps, are left alone."""
    if type(state).__name__ == "LSTMStateTuple":
        return type(state)(c=False, h=True)
    return type(state).__name__ != "TensorArray"


class RNNCellDropoutWrapper(_RNNCellWrapper):
    """A cell with dropout of inputs, states and outputs; variational: of the same elements in each step."""

    def __init__(
        self,
        cell,
        input_keep_prob=1.0,
        output_keep_prob=1.0,
        state_keep_prob=1.0,
        variational_recurrent=False,
        input_size=None,
        dtype=None,
        seed=None,
        dropout_state_filter_visitor=None,
        **kwargs,
    ):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter, self._seed = dropout_state_filter_visitor or _drops, seed
        self._variational_recurrent, self._input_size = variational_recurrent, input_size
        self._keep = {
            part: self._checked(f"{part}_keep_prob", keep)
            for part, keep in (("input", input_keep_prob), ("state", state_keep_prob), ("output", output_keep_prob))
        }
        self._noise = {}
        if variational_recurrent:
            if dtype is None:
                raise ValueError("When variational_recurrent=True, dtype must be provided")
            sizes = {"state": cell.state_size, "output": cell.output_size}
            if self._active("input"):
                if input_size is None:
                    raise ValueError(
                        "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be provided"
                    )
                sizes = {"input": input_size, **sizes}
            for part, given in sizes.items():
                self._noise[part] = [
                    tf.random.uniform([1, *tf.TensorShape(size).as_list()], seed=self._gen_seed(part, i), dtype=dtype)
                    for i, size in enumerate(nest.flatten_up_to(self._sizes(given), given))
                ]

    @staticmethod
    def _sizes(given):
        """The structure whose leaves are sizes: a TensorShape is one."""
        return given if nest.is_nested(given) and not isinstance(given, tf.TensorShape) else 0

    @staticmethod
    def _checked(name, keep):
        value = constant_value(convert_to_tensor(keep))
        if value is None:
            return keep
        if not 0 <= value <= 1:
            raise ValueError("Parameter %s must be between 0 and 1: %d" % (name, value))
        return float(value)

    def _active(self, part):
        return not isinstance(self._keep[part], float) or self._keep[part] < 1

    def _gen_seed(self, part, index):
        """Each place has a seed of its own, the same as TensorFlow's."""
        if self._seed is None:
            return None
        return int(hashlib.md5(f"{self._seed}{part}_{index}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropped(self, part, values, chosen=None):
        if not self._active(part):
            return values
        keep, made = self._keep[part], []
        for i, value in enumerate(nest.flatten(values)):
            if chosen is not None and not chosen[i]:
                made.append(value)
            elif self._variational_recurrent:
                made.append(tf.divide(value, keep) * tf.floor(keep + self._noise[part][i]))
            else:
                made.append(tf.nn.dropout(value, rate=1.0 - keep, seed=self._gen_seed(part, i)))
        return nest.pack_sequence_as(values, made)

    def _chosen(self, state):
        """For each leaf of a state, whether the filter lets it be dropped."""
        answer = self._filter(state)
        if not isinstance(answer, bool):
            children = nest._children(state, nest._kind(state))
            return [
                c
                for child, yes in zip(children, nest.flatten(answer))
                for c in (self._chosen(child) if yes and nest.is_nested(child) else [yes] * len(nest.flatten(child)))
            ]
        if answer and nest.is_nested(state):
            return [c for child in nest._children(state, nest._kind(state)) for c in self._chosen(child)]
        return [answer] * len(nest.flatten(state))

    def _around(self, inputs, state, step, **kwargs):
        outputs, state = step(self._dropped("input", inputs), state, **kwargs)
        if self._active("state"):
            state = self._dropped("state", state, self._chosen(state))
        return self._dropped("output", outputs), state

    def get_config(self):
        return {
            **super().get_config(),
            **{f"{part}_keep_prob": keep for part, keep in self._keep.items()},
            "variational_recurrent": self._variational_recurrent,
            "input_size": self._input_size,
            "seed": self._seed,
        }
