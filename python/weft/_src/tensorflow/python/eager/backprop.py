"""Gradients by the variables that a function reads. tf-keras."""

from weft._src.gradients.tape import GradientTape


def implicit_val_and_grad(f):
    """A function that gives f's value and [(gradient, variable)]."""

    def value_and_gradients(*args, **kwargs):
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        return value, list(zip(tape.gradient(value, variables), variables))

    return value_and_gradients


def implicit_grad(f):
    """A function that gives [(gradient, variable)]."""

    def gradients(*args, **kwargs):
        return implicit_val_and_grad(f)(*args, **kwargs)[1]

    return gradients
