"""tf.experimental.ExtensionType and dispatch; expected values and texts are TensorFlow's."""

import inspect
import typing

import pytest
import weft as tf

E = tf.experimental.ExtensionType


class Masked(E):
    values: tf.Tensor
    mask: tf.Tensor


class Typed(E):
    x: typing.Tuple[tf.Tensor, ...]
    y: typing.Mapping[str, tf.Tensor]
    z: typing.Tuple[int, str] = (1, "a")
    u: typing.Union[int, str, tf.Tensor] = 1


class Checked(E):
    x: tf.Tensor
    y: tf.Tensor

    def __validate__(self):
        self.x.shape.assert_is_compatible_with(self.y.shape)


class Ranged(E):
    x: tf.Tensor

    def __init__(self, n):
        self.x = tf.range(n)


class Base(E):
    a: int


class Derived(Base):
    b: tf.Tensor


class Nested(E):
    i: Base
    t: tf.Tensor


class Batched(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
    y: tf.Tensor


class Chain(E):
    p: typing.Union["Chain", int]


@pytest.fixture
def m():
    return Masked([1, 2, 3], [True, False, True])


def test_basics(m):
    assert repr(m) == (
        "Masked(values=<tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>, "
        "mask=<tf.Tensor: shape=(3,), dtype=bool, "
        "numpy=array([ True, False,  True])>)"
    )
    assert not tf.is_tensor(m) and isinstance(m, E)
    assert (
        (m == Masked([1, 2, 3], [True, False, True])).numpy()
        and not (m == Masked([1, 2, 4], [True, False, True])).numpy()
        and (m == 3) is False
    )
    with pytest.raises(
        AttributeError, match="Cannot mutate attribute `values` outside the custom constructor of ExtensionType."
    ):
        m.values = 3
    with pytest.raises(TypeError, match="missing a required argument: 'mask'"):
        Masked([1])
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'foo'"):
        Masked([1], [2], foo=3)
    with pytest.raises(TypeError, match="unhashable type: 'Masked'"):
        hash(m)
    with pytest.raises(
        AssertionError,
        match="Cannot create an instance of ExtensionType because ExtensionType is an abstract base class.",
    ):
        E()
    assert tf.experimental.extension_type.as_dict(m)["mask"] is m.mask


def test_fields():
    t = Typed(([1], 2.0), {"k": 3})
    assert type(t.x) is tuple and t.y["k"].numpy() == 3 and t.z == (1, "a") and t.u == 1
    assert repr(t._type_spec) == (
        "Typed.Spec(x=(TensorSpec(shape=(1,), dtype=tf.int32, name=None), "
        "TensorSpec(shape=(), dtype=tf.float32, name=None)), "
        "y={'k': TensorSpec(shape=(), dtype=tf.int32, name=None)}, z=(1, 'a'), u=1)"
    )
    for args, text in [
        (((1,), {3: 3}), r"y\[<key>\]: expected 'str', got 'int'"),
        (((1,), {"a": 3}, (1, 2)), r"z\[1\]: expected 'str', got 'int'"),
        (((1,), {"a": 3}, (1,)), r"z: expected tuple with length 2, got 'tuple'\)"),
        ((3, {"a": 3}), "x: expected tuple, got 'int'"),
        (((1,), 3), "y: expected mapping, got 'int'"),
        ((({1: 2},), {}), r"x\[0\]: expected a Tensor, got 'dict'"),
    ]:
        with pytest.raises(TypeError, match=text):
            Typed(*args)
    with pytest.raises(TypeError, match="i: expected 'Base', got 'int'"):
        Nested(3, 1.0)
    assert str(inspect.signature(Derived)).startswith("(a: int, b: ") and repr(Chain(Chain(4))) == "Chain(p=Chain(p=4))"


@pytest.mark.parametrize(
    "fields, kind, text",
    [
        ({"w": typing.List[int]}, TypeError, "In field 'w': Unsupported type annotation typing.List[int]"),
        ({"w": set}, TypeError, "In field 'w': Unsupported type annotation 'set'"),
        ({"w": typing.Any}, TypeError, "In field 'w': Unsupported type annotation 'Any'"),
        ({"self": int}, ValueError, "The field annotations for X are invalid. Field 'self' is reserved."),
    ],
)
def test_class_errors(fields, kind, text):
    with pytest.raises(kind) as e:
        type(E)("X", (E,), {"__annotations__": fields, "__module__": __name__})
    assert str(e.value) == text


def test_constructors():
    assert Ranged(3).x.numpy().tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"Shapes \(1,\) and \(2,\) are incompatible"):
        Checked([1], [2, 3])

    class Forgets(E):
        x: tf.Tensor

        def __init__(self, n):
            pass

    with pytest.raises(ValueError, match="Missing required fields: {'x'}"):
        Forgets(3)

    class Adds(E):
        x: int

        def __init__(self):
            self.y = 2

    with pytest.raises(AttributeError, match="Cannot mutate attribute `y`"):
        Adds()


def test_specs(m):
    spec = Masked.Spec(tf.TensorSpec([3], tf.int32), tf.TensorSpec([3], tf.bool))
    assert spec == m._type_spec == tf.type_spec_from_value(m) == Masked.Spec.from_value(m) and spec.value_type is Masked
    assert (
        repr(spec) == "Masked.Spec(values=TensorSpec(shape=(3,), dtype=tf.int32, name=None), "
        "mask=TensorSpec(shape=(3,), dtype=tf.bool, name=None))"
    )
    assert spec._serialize() == (("values", tf.TensorSpec([3], tf.int32)), ("mask", tf.TensorSpec([3], tf.bool)))
    assert Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec(None, tf.bool)).is_compatible_with(m)
    with pytest.raises(TypeError, match="values: expected a TensorSpec, got 'int'"):
        Masked.Spec(3, 4)
    n = Nested(Base(3), 1.0)
    assert repr(n._type_spec) == "Nested.Spec(i=Base.Spec(a=3), t=TensorSpec(shape=(), dtype=tf.float32, name=None))"
    assert len(tf.nest.flatten(n, expand_composites=True)) == 1
    more = tf.nest.map_structure(lambda v: v + 1, n, expand_composites=True)
    assert more.t.numpy() == 2 and more.i.a == 3


def test_functions():
    traces = []

    @tf.function
    def f(v):
        traces.append(repr(v._type_spec))
        return v, v.x * 2

    for _ in range(2):
        same, twice = f(Checked([1], [2]))
    assert isinstance(same, Checked) and twice.numpy().tolist() == [2] and len(traces) == 1
    assert isinstance(tf.identity(Checked([1], [2])), Checked)
    chosen = tf.cond(tf.constant(True), lambda: Checked([1], [2]), lambda: Checked([3], [4]))
    assert chosen.x.numpy().tolist() == [1]


def test_batches():
    b = Batched([[1, 2], [3, 4]], [5, 6])
    assert (
        repr(b._type_spec._unbatch()) == "Batched.Spec(x=TensorSpec(shape=(2,), dtype=tf.int32, name=None), "
        "y=TensorSpec(shape=(), dtype=tf.int32, name=None))"
    )
    assert b._type_spec._batch(3).x == tf.TensorSpec([3, 2, 2], tf.int32)
    rows = list(tf.data.Dataset.from_tensor_slices(b))
    assert [r.x.numpy().tolist() for r in rows] == [[1, 2], [3, 4]] and isinstance(rows[0], Batched)
    assert next(iter(tf.data.Dataset.from_tensor_slices(b).batch(2))).x.numpy().tolist() == [[1, 2], [3, 4]]


def test_dispatch_for_api(m):
    @tf.experimental.dispatch_for_api(tf.concat, {"values": typing.List[Masked]})
    def concat(values, axis, name="concat"):
        return Masked(tf.concat([v.values for v in values], axis), tf.concat([v.mask for v in values], axis))

    @tf.experimental.dispatch_for_api(tf.shape)
    def shape(input: Masked, out_type=tf.int32, name=None):
        return tf.shape(input.values)

    @tf.experimental.dispatch_for_api(tf.tile)
    def tile(input: Masked, multiples, name=None):
        return "tiled"

    assert (
        tf.concat([m, m], 0).values.numpy().tolist() == [1, 2, 3, 1, 2, 3]
        and tf.shape(m).numpy().tolist() == [3]
        and tf.tile(m, [2]) == "tiled"
    )
    with pytest.raises(ValueError, match="with an unsupported type"):
        tf.concat([m, [1]], 0)
    for f in (concat, shape, tile):
        tf.experimental.unregister_dispatch_for(f)
    with pytest.raises(ValueError):
        tf.concat([m, m], 0)
    with pytest.raises(ValueError, match="was not registered using a `@dispatch_for_"):
        tf.experimental.unregister_dispatch_for(concat)


def test_dispatch_errors():
    with pytest.raises(ValueError, match="does not support dispatch."):
        tf.experimental.dispatch_for_api(tf.nest.flatten, {"structure": Masked})
    with pytest.raises(ValueError, match="signature includes annotation for unknown parameter 'value'."):
        tf.experimental.dispatch_for_api(tf.concat, {"value": Masked})
    with pytest.raises(
        ValueError,
        match=r"Dispatch function's signature \(vals, axis, name='concat'\) does not match " r"API's signature",
    ):
        tf.experimental.dispatch_for_api(tf.concat, {"values": Masked})(lambda vals, axis, name="concat": None)
    with pytest.raises(ValueError, match="must be called with at least one signature"):
        tf.experimental.dispatch_for_api(tf.concat)(lambda values, axis, name="concat": None)


def test_elementwise(m):
    @tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
    def unary(api, x):
        return Masked(api(x.values), x.mask)

    @tf.experimental.dispatch_for_binary_elementwise_apis(Masked, typing.Union[Masked, int])
    def binary(api, x, y):
        return Masked(api(x.values, y.values if isinstance(y, Masked) else y), x.mask)

    try:
        assert (
            tf.negative(m).values.numpy().tolist() == [-1, -2, -3]
            and tf.abs(m).values.numpy().tolist() == [1, 2, 3]
            and tf.cast(m, tf.float32).values.dtype == tf.float32
        )
        assert tf.zeros_like(m).values.numpy().tolist() == [0, 0, 0] and tf.nn.relu(m).values.numpy().tolist() == [
            1,
            2,
            3,
        ]
        assert (
            tf.multiply(m, m).values.numpy().tolist() == [1, 4, 9]
            and tf.add(m, 1).values.numpy().tolist() == [2, 3, 4]
            and tf.maximum(m, 2).values.numpy().tolist() == [2, 2, 3]
        )
        with pytest.raises(ValueError, match="has already been registered for"):
            tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(unary)
    finally:
        tf.experimental.unregister_dispatch_for(unary)
        tf.experimental.unregister_dispatch_for(binary)
    with pytest.raises(ValueError):
        tf.negative(m)


def test_own_specs_and_methods():
    class Image(E):
        values: tf.Tensor
        shape = property(lambda self: self.values.shape)

        class Spec:
            def __init__(self, shape, dtype=tf.float32):
                self.values = tf.TensorSpec(shape, dtype)

            shape = property(lambda self: self.values.shape)

        @tf.function
        def twice(self):
            return self.values * 2

    assert Image.Spec([None], tf.int32).is_compatible_with(Image([1, 2])) and Image.Spec([3]).shape == [3]
    assert Image([1, 2]).twice().numpy().tolist() == [2, 4]
    image = Image([3.0])
    assert image.twice().numpy() == image.twice().numpy() == [6.0]


class _Doubled(tf.experimental.ExtensionTypeBatchEncoder):
    def encode(self, spec, value, minimum_rank=0):
        return value.x * 2

    def decode(self, spec, encoded_value):
        return Encoded(encoded_value + 1)

    def encoding_specs(self, spec):
        return spec.x


class Encoded(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
    __batch_encoder__ = _Doubled()


def test_batch_encoder():
    rows = tf.data.Dataset.from_tensor_slices(Encoded([[1, 2], [3, 4]]))
    assert [r.x.numpy().tolist() for r in rows] == [[3, 5], [7, 9]]


class Saved(E):
    __name__ = "weft_test.Saved"
    values: tf.Tensor
    mask: tf.Tensor


def test_saved_model(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[Saved.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool))])
        def f(self, x):
            return Saved(x.values * 2, x.mask)

    class Unnamed(tf.Module):
        @tf.function(input_signature=[Base.Spec(3)])
        def f(self, x):
            return tf.constant(x.a)

    tf.saved_model.save(Model(), str(tmp_path / "model"))
    got = tf.saved_model.load(str(tmp_path / "model")).f(Saved([1, 2], [True, False]))
    assert isinstance(got, Saved) and got.values.numpy().tolist() == [2, 4]
    with pytest.raises(Exception, match="No encoder for object Base.Spec"):
        tf.saved_model.save(Unnamed(), str(tmp_path / "unnamed"))
