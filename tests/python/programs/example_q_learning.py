"""Q-learning on a small corridor: variables in tables, scatter updates, greedy policies."""
import tensorflow as tf

n_states, n_actions, goal = 6, 2, 5
q = tf.Variable(tf.zeros([n_states, n_actions]))


@tf.function
def act(state, explore, coin):
    greedy = tf.argmax(q[state], output_type=tf.int32)
    return tf.where(explore < 0.3, coin, greedy)


@tf.function
def learn(state, action, reward, following, done, rate=0.5, discount=0.9):
    future = tf.where(done, 0.0, tf.reduce_max(q[following]))
    target = reward + discount * future
    current = q[state, action]
    q.scatter_nd_add([[state, action]], [rate * (target - current)])
    return target - current


total_steps = 0
for episode in range(25):
    state = tf.constant(0)
    draws = tf.random.stateless_uniform([60, 2], [episode, 3])
    coins = tf.random.stateless_uniform([60], [episode, 4], 0, 2, tf.int32)
    for t in range(60):
        action = act(state, draws[t, 0], coins[t])
        following = tf.clip_by_value(state + tf.where(action == 1, 1, -1), 0, goal)
        done = following == goal
        reward = tf.where(done, 1.0, -0.01)
        learn(state, action, reward, following, done)
        state = following
        total_steps += 1
        if done:
            break
    if episode % 8 == 0:
        print("episode", episode, "steps", t + 1)
print(total_steps)
print(q.numpy().round(3))
print("policy", tf.argmax(q, axis=1).numpy(), "value", tf.reduce_max(q, axis=1).numpy().round(2))
print(learn.experimental_get_tracing_count(), act.experimental_get_tracing_count())
