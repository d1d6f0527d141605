"""Custom tracing: __tf_tracing_type__, TraceType subclasses, structures as arguments, None and bool, keyword-only."""
import collections
import tensorflow as tf


class FruitTraceType(tf.types.experimental.TraceType):
    def __init__(self, fruit):
        self.fruit_type = type(fruit)
        self.fruit_value = fruit

    def is_subtype_of(self, other):
        return type(other) is FruitTraceType and self.fruit_type is other.fruit_type

    def most_specific_common_supertype(self, others):
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context=None):
        return self.fruit_value

    def __eq__(self, other):
        return type(other) is FruitTraceType and self.fruit_type == other.fruit_type

    def __hash__(self):
        return hash(self.fruit_type)


class Fruit:
    flavor = tf.constant([0, 0])

    def __tf_tracing_type__(self, context):
        return FruitTraceType(self)


class Apple(Fruit):
    flavor = tf.constant([1, 2])


class Mango(Fruit):
    flavor = tf.constant([3, 4])


@tf.function
def mix(a, b):
    print("tracing", type(a).__name__, type(b).__name__)
    return a.flavor + b.flavor


print(mix(Apple(), Mango()), mix(Apple(), Mango()), mix(Mango(), Mango()), mix.experimental_get_tracing_count())

Point = collections.namedtuple("Point", "x y")


@tf.function
def structured(p, *rest, flag=True, scale=1.0, **options):
    print("tracing", type(p).__name__, len(rest), flag, scale, sorted(options))
    return tf.nest.map_structure(lambda t: t * scale, p)


print(structured(Point(tf.constant(1.0), tf.constant(2.0))))
print(structured(Point(tf.constant(3.0), tf.constant(4.0))))
print(structured((tf.constant(1.0),), tf.constant(2.0), flag=False))
print(structured([tf.constant(1.0)], scale=2.0, extra=tf.constant(1), more=None))
print(structured.experimental_get_tracing_count())


@tf.function
def optional(x=None, y=5):
    print("tracing", x if x is None else "tensor", y)
    return tf.constant(y) if x is None else x + y


print(optional(), optional(None), optional(tf.constant(1)), optional(y=5), optional(tf.constant(1), 6))
print(optional.experimental_get_tracing_count())


class Config:
    def __init__(self, n):
        self.n = n


@tf.function
def with_object(c, x):
    print("tracing with", c.n)
    return x * c.n


one, two = Config(1), Config(2)
print([with_object(c, tf.constant(10)).numpy() for c in (one, two, one)])
one.n = 100
print(with_object(one, tf.constant(10)).numpy())


@tf.function
def with_spec(x: tf.Tensor, name: str = "n"):
    return x


print(with_spec(tf.constant([1.0])), with_spec.pretty_printed_concrete_signatures())
for value in (True, 1, 1.0, tf.constant(1), None, "1", b"1", (1,), [1], {"a": 1}, range(1)):
    try:
        print(repr(value) if not tf.is_tensor(value) else "tensor",
              tf.function(lambda v: tf.constant(0))(value).numpy())
    except Exception as e:
        print(type(e).__name__)
