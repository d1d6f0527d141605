"""tf-agents: a DQN agent in a corridor of five places, with a replay buffer, a training loop and a saved policy."""

import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.drivers import dynamic_step_driver
from tf_agents.environments import py_environment, tf_py_environment
from tf_agents.networks import q_network
from tf_agents.policies import policy_saver
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as steps
from tf_agents.utils import common


class Corridor(py_environment.PyEnvironment):
    """Left or right; the episode ends at place 4 with a reward, or after 12 steps."""

    def __init__(self):
        super().__init__()
        self.place = self.count = 0

    def action_spec(self):
        return array_spec.BoundedArraySpec((), np.int32, 0, 1, "action")

    def observation_spec(self):
        return array_spec.BoundedArraySpec((5,), np.float32, 0.0, 1.0, "observation")

    def seen(self):
        return np.eye(5, dtype=np.float32)[self.place]

    def _reset(self):
        self.place = self.count = 0
        return steps.restart(self.seen())

    def _step(self, action):
        if self._current_time_step.is_last():
            return self.reset()
        self.place = max(0, self.place + (1 if action else -1))
        self.count += 1
        if self.place == 4:
            return steps.termination(self.seen(), np.float32(1.0))
        if self.count == 12:
            return steps.termination(self.seen(), np.float32(0.0))
        return steps.transition(self.seen(), np.float32(-0.05), np.float32(1.0))


tf.random.set_seed(3)
train = tf_py_environment.TFPyEnvironment(Corridor())
print("specs", train.time_step_spec().observation, train.action_spec())
network = q_network.QNetwork(train.observation_spec(), train.action_spec(), fc_layer_params=(16,))
network.create_variables()
random = np.random.RandomState(0)
network.set_weights([random.randn(*w.shape).astype("float32") * 0.3 for w in network.get_weights()])
counter = tf.Variable(0, dtype=tf.int64)
agent = dqn_agent.DqnAgent(
    train.time_step_spec(),
    train.action_spec(),
    q_network=network,
    optimizer=tf.compat.v1.train.AdamOptimizer(0.05),
    td_errors_loss_fn=common.element_wise_squared_loss,
    epsilon_greedy=0.3,
    target_update_period=5,
    gamma=0.9,
    train_step_counter=counter,
)
agent.initialize()
buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(agent.collect_data_spec, batch_size=1, max_length=500)
driver = dynamic_step_driver.DynamicStepDriver(train, agent.collect_policy, [buffer.add_batch], num_steps=20)
driver.run = common.function(driver.run)
time_step, state = driver.run()
for _ in range(9):
    time_step, state = driver.run(time_step, state)
print("frames", int(buffer.num_frames()))
data = iter(buffer.as_dataset(sample_batch_size=32, num_steps=2, single_deterministic_pass=False))
experience, information = next(data)
print("experience", {k: v.shape.as_list() for k, v in experience._asdict().items() if hasattr(v, "shape")})
# A batch that does not depend on what was drawn: every place, both ways.
places = np.repeat(np.arange(4), 2)
actions = np.tile([0, 1], 4).astype(np.int32)
reached = np.maximum(0, places + np.where(actions, 1, -1))
ends = reached == 4
pairs = lambda a, b: np.stack([a, b], axis=1)  # noqa: E731
batch = experience._replace(
    step_type=pairs(np.ones(8, np.int32), np.where(ends, 2, 1).astype(np.int32)),
    observation=pairs(np.eye(5, dtype=np.float32)[places], np.eye(5, dtype=np.float32)[reached]),
    action=pairs(actions, actions),
    next_step_type=pairs(np.where(ends, 2, 1).astype(np.int32), np.where(ends, 0, 1).astype(np.int32)),
    reward=pairs(np.where(ends, 1.0, -0.05).astype(np.float32), np.zeros(8, np.float32)),
    discount=pairs(np.where(ends, 0.0, 1.0).astype(np.float32), np.ones(8, np.float32)),
)
batch = tf.nest.map_structure(tf.constant, batch)
agent.train = common.function(agent.train)
losses = [float(agent.train(batch).loss) for _ in range(100)]
print("losses", np.round(losses[:5], 4).tolist(), "falls", losses[-1] < 0.01, "steps", int(counter.numpy()))


def play(policy):
    environment = tf_py_environment.TFPyEnvironment(Corridor())
    time_step, total, taken = environment.reset(), 0.0, []
    while not bool(time_step.is_last()[0]):
        action = policy.action(time_step).action
        taken.append(int(action[0]))
        time_step = environment.step(action)
        total += float(time_step.reward[0])
    return taken, round(total, 3)


print("greedy", play(agent.policy))
folder = tempfile.mkdtemp()
policy_saver.PolicySaver(agent.policy).save(folder)
print("saved", play(tf.saved_model.load(folder)))
checkpointer = common.Checkpointer(os.path.join(folder, "checkpoints"), agent=agent, step=counter)
checkpointer.save(counter)
print("checkpoint", checkpointer.checkpoint_exists, sorted(os.listdir(os.path.join(folder, "checkpoints")))[0])
