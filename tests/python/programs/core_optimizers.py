"""Optimisers as modules: gradient descent, momentum, Adam, RMSprop, on a plain function; paths to the minimum."""
import tensorflow as tf


class GradientDescent(tf.Module):
    def __init__(self, learning_rate=1e-2):
        self.learning_rate = learning_rate

    def apply_gradients(self, grads, variables):
        for grad, var in zip(grads, variables):
            var.assign_sub(self.learning_rate * grad)


class Momentum(tf.Module):
    def __init__(self, learning_rate=1e-2, momentum=0.7):
        self.learning_rate, self.momentum, self.change = learning_rate, momentum, 0.0

    def apply_gradients(self, grads, variables):
        for grad, var in zip(grads, variables):
            curr_change = self.learning_rate * grad + self.momentum * self.change
            var.assign_sub(curr_change)
            self.change = curr_change


class Adam(tf.Module):
    def __init__(self, learning_rate=1e-2, beta_1=0.9, beta_2=0.999, ep=1e-7):
        self.beta_1, self.beta_2, self.learning_rate, self.ep = beta_1, beta_2, learning_rate, ep
        self.t, self.v_dvar, self.s_dvar, self.title = 1.0, [], [], f"Adam: learning rate={learning_rate}"
        self.built = False

    def apply_gradients(self, grads, variables):
        if not self.built:
            for var in variables:
                self.v_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
                self.s_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
            self.built = True
        for i, (d_var, var) in enumerate(zip(grads, variables)):
            self.v_dvar[i] = self.beta_1 * self.v_dvar[i] + (1 - self.beta_1) * d_var
            self.s_dvar[i] = self.beta_2 * self.s_dvar[i] + (1 - self.beta_2) * tf.square(d_var)
            v_bc = self.v_dvar[i] / (1 - (self.beta_1**self.t))
            s_bc = self.s_dvar[i] / (1 - (self.beta_2**self.t))
            var.assign_sub(self.learning_rate * (v_bc / (tf.sqrt(s_bc) + self.ep)))
        self.t += 1.0


class RMSprop(tf.Module):
    def __init__(self, rate=0.05, rho=0.9):
        self.rate, self.rho, self.mean = rate, rho, {}

    def apply_gradients(self, grads, variables):
        for g, v in zip(grads, variables):
            key = v.name
            if key not in self.mean:
                self.mean[key] = tf.Variable(tf.zeros_like(v))
            self.mean[key].assign(self.rho * self.mean[key] + (1 - self.rho) * g * g)
            v.assign_sub(self.rate * g / tf.sqrt(self.mean[key] + 1e-7))


def bowl(x):
    return 2 * (x**4) + 3 * (x**3) + 2


def convergence(optimizer, x_init, steps=30):
    x_var = tf.Variable(x_init)
    path = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            y = bowl(x_var)
        optimizer.apply_gradients([tape.gradient(y, x_var)], [x_var])
        path.append(float(x_var))
    return path


for make in (GradientDescent, Momentum, Adam, RMSprop):
    optimizer = make()
    path = convergence(optimizer, -2.0)
    print(type(optimizer).__name__, [round(p, 3) for p in path[::6]], len(optimizer.variables))


@tf.function
def rosenbrock(p):
    return (1.0 - p[0]) ** 2 + 10.0 * (p[1] - p[0] ** 2) ** 2


p = tf.Variable([-1.0, 1.0])
opt = Adam(0.1)
for i in range(60):
    with tf.GradientTape() as tape:
        loss = rosenbrock(p)
    opt.apply_gradients(tape.gradient(loss, [p]), [p])
    if i % 20 == 19:
        print(i, f"{loss.numpy():.3f}", p.numpy().round(2))
