"""and, or, not, ==, !=, conditional expressions and assert."""

from . import _tf, checks


def not_(a):
    return _tf.logical_not(a) if _tf.is_tensor(a) else not a


def and_(a, b):
    """`a` and `b` are functions; `b` is called only if its value counts."""
    value = a()
    return _tf.cond(value, b, lambda: value) if _tf.is_tensor(value) else value and b()


def or_(a, b):
    value = a()
    return _tf.cond(value, lambda: value, b) if _tf.is_tensor(value) else value or b()


def eq(a, b):
    return _tf.equal(a, b) if _tf.is_tensor(a) or _tf.is_tensor(b) else a == b


def not_eq(a, b):
    return not_(eq(a, b))


def if_exp(cond, if_true, if_false, expr_repr):
    if not _tf.is_dense(cond):
        return if_true() if cond else if_false()
    values = {}

    def branch(name, run):
        def traced():
            values[name] = run()
            if len(values) == 2:
                checks.branch_value(expr_repr, values["main"], values["else"])
            return values[name]

        return traced

    return _tf.cond(cond, branch("main", if_true), branch("else", if_false))


def assert_stmt(test, message):
    """`message` is a function. With a tensor the graph checks it, whether or not Python runs with assertions."""
    if _tf.is_tensor(test):
        data = message()
        return _tf.Assert(test, data if isinstance(data, list) else [data])
    assert test, message()
    return None
