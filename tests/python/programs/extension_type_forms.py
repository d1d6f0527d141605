"""tf.experimental.ExtensionType: fields of every kind, printing, comparing, functions, datasets, saving, batches; what is refused."""

import tempfile
import typing

import tensorflow as tf
from calls import show, tell

E, B = tf.experimental.ExtensionType, tf.experimental.BatchableExtensionType


class Masked(E):
    """Values and which of them count."""

    values: tf.Tensor
    mask: tf.Tensor

    def __validate__(self):
        self.values.shape.assert_is_compatible_with(self.mask.shape)

    def __repr__(self):
        return f"<Masked {self.values.shape}>"

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)


class Kinds(E):
    t: tf.Tensor
    i: int = 3
    f: float = 2.5
    s: str = "text"
    b: bool = True
    y: bytes = b"y"
    n: None = None
    d: tf.DType = tf.int32
    h: tf.TensorShape = tf.TensorShape([1, None])
    o: typing.Optional[tf.Tensor] = None
    u: typing.Union[int, str] = 1
    many: typing.Tuple[int, ...] = (1, 2)
    two: typing.Tuple[tf.Tensor, str] = (0.0, "z")
    m: typing.Mapping[str, tf.Tensor] = {}
    r: typing.Optional[tf.RaggedTensor] = None


class Node(E):
    value: tf.Tensor
    inner: typing.Optional[Masked] = None


class Row(B):
    a: tf.Tensor
    b: tf.Tensor
    name: str = "row"


class Sub(Masked):
    extra: tf.Tensor = 7


class Named(E):
    __name__ = "programs.Named"
    x: tf.Tensor


@tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
def unary(api, x):
    return Masked(api(x.values), x.mask)


@tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)
def binary(api, x, y):
    return Masked(api(x.values, y.values), x.mask & y.mask)


m = Masked([1, 2, 3], [True, False, True])
k = Kinds([1.0])
row = Row([[1.0], [2.0]], [3, 4])
traces = []


@tf.function
def run(x):
    traces.append(tf.type_spec_from_value(x))
    return x


def define(**fields):
    return type("Made", (E,), {"__annotations__": fields})


def saved():
    class M(tf.Module):
        @tf.function(input_signature=[Named.Spec(tf.TensorSpec([None]))])
        def __call__(self, n):
            return Named(n.x * 2)

    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(M(), folder)
        return tf.saved_model.load(folder)(Named([1.0, 2.0]))


tell(
    """
    m
    k
    print(k.t, k.i, k.f, k.s, k.b, k.y, k.n, k.d, k.h, k.o, k.u, k.many, k.two, k.m, k.r)
    Node(1)
    Node(1, m)
    Node(value=1, inner=Masked([1.0], [False])).inner.values
    row
    Sub([1], [True])
    Sub([1], [True]).extra
    Sub([1], [True], 9).extra
    Masked([1, 2], [True])
    Masked([1])
    Masked()
    Masked([1], [True], [3])
    Masked([1], mask=[True]).mask
    Masked(values=[1], mask="a")
    Masked("a", [[1], [2, 3]])
    Kinds([1.0], i="a")
    Kinds([1.0], f=1).f
    Kinds([1.0], s=5)
    Kinds([1.0], d="float32").d
    Kinds([1.0], d="nothing")
    Kinds([1.0], h=[1, 2]).h
    Kinds([1.0], u=2.5)
    Kinds([1.0], many=(1, "a"))
    Kinds([1.0], many=[1, 2, 3]).many
    Kinds([1.0], two=(1,))
    Kinds([1.0], m={"a": 1}).m
    Kinds([1.0], m={1: 1})
    Kinds([1.0], m=5)
    Kinds([1.0], o=[1, 2]).o
    Kinds([1.0], r=tf.ragged.constant([[1]])).r
    Kinds([1.0], nothing=1)
    Kinds.Spec.__name__
    Masked.Spec(tf.TensorSpec([3]), tf.TensorSpec([3], tf.bool))
    Masked.Spec(values=tf.TensorSpec([3]), mask=tf.TensorSpec([3], tf.bool)).values
    Masked.Spec(5, 6)
    Masked.Spec(tf.TensorSpec([3]))
    tf.type_spec_from_value(k)
    tf.type_spec_from_value(m) == Masked.Spec(tf.TensorSpec([3], tf.int32), tf.TensorSpec([3], tf.bool))
    tf.type_spec_from_value(m).value_type
    m == m
    m == Masked([1, 2, 3], [True, False, True])
    m == Masked([1, 2, 4], [True, False, True])
    m != m
    m == 5
    hash(m)
    hash(tf.type_spec_from_value(m)) == hash(tf.type_spec_from_value(m))
    m.values
    m.nothing
    m.__setattr__("values", 1)
    m.__delattr__("values")
    vars(m).keys() >= {"values"}
    m.shape
    m + m
    tf.abs(m)
    tf.cast(m, tf.float32)
    m + 1
    tf.reduce_sum(m)
    run(m)
    run(Masked([1.0], [True]))
    run(Masked([5, 6, 7], [True, True, True]))
    run(k).i
    run(Kinds([1.0], i=4)).i
    traces
    tf.function(lambda a: a.values * 2)(m)
    tf.function(lambda a: Node(a.values, a), input_signature=[Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool))])(m)
    tf.nest.flatten(m, expand_composites=True)
    tf.nest.map_structure(lambda t: t, m, expand_composites=True)
    tf.cond(True, lambda: m, lambda: m)
    tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, Masked(a.values + 1, a.mask)), [0, m])[1].values
    tf.data.Dataset.from_tensors(m).element_spec
    list(tf.data.Dataset.from_tensors(m).map(lambda a: a.values))
    list(tf.data.Dataset.from_tensor_slices(row))
    list(tf.data.Dataset.from_tensor_slices(row).batch(2))
    tf.data.Dataset.from_tensor_slices(m)
    tf.map_fn(lambda r: r.a * 2, row, fn_output_signature=tf.float32)
    tf.map_fn(lambda r: r, row)
    row.shape
    tf.convert_to_tensor(m)
    tf.identity(m)
    tf.stack([m, m])
    tf.experimental.extension_type.as_dict(m)
    tf.experimental.extension_type.as_dict(Node(1, m))
    saved()
    define(x=list)
    define(x=typing.List[int])
    define(x=dict)
    define(x="tf.Tensor")
    define(x=object)
    define(x=typing.Literal["p"])
    define(x=tf.TensorSpec([2]))
    define(_x=int)(1)
    define(Spec=int)
    define(shape=int)(2)
    define(self=int)
    define(x=int)(x=1)
    define(x=int, y=str)(1, "a") == define(x=int, y=str)(1, "a")
    """,
    globals(),
)
show(lambda: type("Bad", (E,), {"__annotations__": {"x": int}, "x": "a"}))
show(lambda: type("Bad", (E,), {"__init__": lambda self: None})())
show(lambda: type("Bad", (E,), {"y": 5}).y)
show(lambda: type("Bad", (E,), {"__annotations__": {"a": int, "b": int}, "a": 1}))
