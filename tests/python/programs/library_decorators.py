# Decorators, inspection and deprecation of tensorflow.python.util, as libraries use them.
import logging
import sys

import tensorflow as tf
from tensorflow.python.util import deprecation, nest, object_identity, tf_contextlib, tf_decorator, tf_export, tf_inspect
from tensorflow.tools.docs import doc_controls


class Plain(logging.Handler):
    def emit(self, record):
        print("log:", record.getMessage().split(": ", 1)[1])


logger = logging.getLogger("tensorflow")
logger.handlers[:] = [Plain()]
logger.setLevel(logging.WARNING)
logger.propagate = False


@deprecation.deprecated("2030-01-01", "use new")
def old(a, b=2):
    """Adds.

    Much more."""
    return a + b


print(old(1), old(2))
print(repr(old.__doc__))
print(tf_inspect.getfullargspec(old))


@deprecation.deprecated_args(None, "use a", "b", ("c", None))
def some(a, b=1, c=None):
    """Some."""
    return a


some(1)
some(1, c=None)
some(1, 5)
some(1, c=3)
some(1, 6)


@deprecation.deprecated_arg_values(None, "use False", flag=True)
def valued(flag=False):
    """Valued."""
    return flag


valued()
valued(True)
with deprecation.silence():
    old.__wrapped__(1)
for bad in ("tomorrow", None):
    try:
        deprecation.deprecated(bad, "" if bad is None else "x")
    except ValueError as e:
        print(e)


def wrap(function):
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return tf_decorator.make_decorator(function, inner, "wrap", "documented")


@wrap
def decorated(x, *rest, y=1):
    return x


decorators, innermost = tf_decorator.unwrap(decorated)
print(decorators[0].decorator_name, innermost.__name__, decorated.__doc__, tf_inspect.signature(decorated))
print(tf_inspect.getcallargs(decorated, 5, y=2))


@tf_contextlib.contextmanager
def scope(name):
    yield name.upper()


with scope("inner") as given:
    print(given, tf_inspect.getfullargspec(scope).args)
print(tf_export.get_canonical_name_for_symbol(tf.multiply), tf_export.get_canonical_name_for_symbol(tf.nn.relu))
print(tf_export.get_canonical_name_for_symbol(tf.compat.v1.gather, add_prefix_to_v1_names=True))
print(nest._is_namedtuple((1,)), list(nest._yield_value({"b": 1, "a": 2})))
a, b = [1], [1]
seen = object_identity.ObjectIdentitySet([a])
print(a in seen, b in seen, len(seen))
known = object_identity.ObjectIdentityDictionary()
known[a], known[b] = "a", "b"
print(known[a], known[b], len(known))
print(vars(doc_controls.do_not_generate_docs(lambda: 1)))
