"""A stateful module with checks, as in a first lesson on variables and functions."""
import tensorflow as tf


class Account(tf.Module):
    def __init__(self, owner, balance=0.0):
        super().__init__(name=owner)
        self.balance = tf.Variable(balance, trainable=False, name="balance")
        self.history = []

    @tf.function
    def deposit(self, amount):
        tf.debugging.assert_positive(amount, message="deposits must be positive")
        return self.balance.assign_add(amount)

    @tf.function
    def withdraw(self, amount):
        if amount > self.balance:
            return self.balance.read_value(), False
        self.balance.assign_sub(amount)
        return self.balance.read_value(), True

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32)])
    def grow(self, years, rate):
        for _ in tf.range(years):
            self.balance.assign(self.balance * (1.0 + rate))
        return self.balance.value()


account = Account("alice", 100.0)
print(account.name, account.balance)
print(account.deposit(tf.constant(50.0)).numpy())
print([t.numpy() for t in account.withdraw(tf.constant(30.0))])
print([t.numpy() for t in account.withdraw(tf.constant(1000.0))])
print(account.grow(2, 0.1).numpy(), account.grow(tf.constant(1), 0.0).numpy())
print(account.balance.numpy(), account.trainable_variables, len(account.variables))
other = Account("bob")
print(other.deposit(tf.constant(1.0)).numpy(), account.balance.numpy(), other.balance.name)
try:
    account.deposit(tf.constant(-5.0))
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__, "deposits must be positive" in e.message)
