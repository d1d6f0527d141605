"""tf.nn.RNNCell*Wrapper around a cell of one's own: sums, devices, dropout with seeds."""
import tensorflow as tf


class Cell(tf.Module):
    def __init__(self, units):
        super().__init__()
        self.state_size, self.output_size, self.units = units, units, units

    def build(self, shape):
        self.w = tf.Variable(tf.ones([shape[-1], self.units]) * 0.5)

    def call(self, inputs, state):
        new = tf.tanh(inputs @ self.w + state)
        return new * 2, new

    def get_config(self):
        return {"units": self.units}


class Pair(Cell):
    def __init__(self, units):
        super().__init__(units)
        self.state_size = [units, units]

    def call(self, inputs, state):
        new = inputs @ self.w + state[0]
        return new, [new + 1, state[1] + new]


def show(label, code):
    try:
        print(label, code())
    except (ValueError, TypeError) as e:
        print(label, type(e).__name__, e)


x, s = tf.constant([[1.0, 2.0], [0.5, -1.0]]), tf.zeros([2, 2])
residual = tf.nn.RNNCellResidualWrapper(Cell(2))
out, state = residual(x, s)
print(out.numpy(), state.numpy(), residual.state_size, residual.output_size, residual.built)
print(tf.nn.RNNCellResidualWrapper(Cell(2), residual_fn=lambda i, o: i * o)(x, s)[0].numpy())
print(tf.nn.RNNCellDeviceWrapper(Cell(2), "/cpu:0")(x, s)[0].numpy())
show("shapes", lambda: tf.nn.RNNCellResidualWrapper(Cell(3))(x, tf.zeros([2, 3])))
tf.random.set_seed(7)
for options in ({"input_keep_prob": 0.5}, {"output_keep_prob": 0.5}, {"state_keep_prob": 0.5},
                {"input_keep_prob": 0.7, "state_keep_prob": 0.6, "output_keep_prob": 0.5}):
    cell = tf.nn.RNNCellDropoutWrapper(Pair(2), seed=3, **options)
    out, state = cell(x, [s, s])
    print(options, out.numpy().tolist(), [t.numpy().tolist() for t in state])
cell = tf.nn.RNNCellDropoutWrapper(Pair(2), state_keep_prob=0.01, seed=3, dropout_state_filter_visitor=lambda s: [True, False] if isinstance(s, list) else True)
print([t.numpy().tolist() for t in cell(x, [s, s])[1]])
tf.random.set_seed(7)
cell = tf.nn.RNNCellDropoutWrapper(Pair(2), 0.5, 0.5, 0.5, variational_recurrent=True, input_size=2, dtype=tf.float32, seed=5)
first, second = cell(tf.ones([3, 2]), [tf.zeros([3, 2])] * 2), cell(tf.ones([3, 2]), [tf.zeros([3, 2])] * 2)
print(first[0].numpy().tolist(), [t.numpy().tolist() for t in first[1]], bool(tf.reduce_all(first[0] == second[0])))
show("range", lambda: tf.nn.RNNCellDropoutWrapper(Cell(2), input_keep_prob=2.0))
show("dtype", lambda: tf.nn.RNNCellDropoutWrapper(Cell(2), variational_recurrent=True))
show("size", lambda: tf.nn.RNNCellDropoutWrapper(Cell(2), 0.5, variational_recurrent=True, dtype=tf.float32))
show("filter", lambda: tf.nn.RNNCellDropoutWrapper(Cell(2), dropout_state_filter_visitor=3))
