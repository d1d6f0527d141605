"""tf.DType: the types of elements, with TensorFlow's numbers and names."""

import functools

_NAMES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    15: "qint16",
    16: "quint16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    20: "resource",
    21: "variant",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    26: "float8_e4m3fnuz",
    27: "float8_e4m3b11fnuz",
    28: "float8_e5m2fnuz",
    29: "int4",
    30: "uint4",
    31: "int2",
    32: "uint2",
    33: "float4_e2m1fn",
}
_SIZES = {
    "float32": 4,
    "float64": 8,
    "int32": 4,
    "uint8": 1,
    "int16": 2,
    "int8": 1,
    "string": 0,
    "complex64": 8,
    "int64": 8,
    "bool": 1,
    "qint8": 1,
    "quint8": 1,
    "qint32": 4,
    "bfloat16": 2,
    "qint16": 2,
    "quint16": 2,
    "uint16": 2,
    "complex128": 16,
    "float16": 2,
    "resource": 0,
    "variant": 0,
    "uint32": 4,
    "uint64": 8,
}
_FLOATS = {
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2fnuz",
    "float4_e2m1fn",
}
_INTS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int4", "uint4", "int2", "uint2"}
_QUANTIZED = {"qint8", "quint8", "qint16", "quint16", "qint32"}
_QUANTIZED_STORAGE = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}


@functools.cache
def _ml_dtypes():
    import ml_dtypes

    return ml_dtypes


@functools.cache
def numpy_dtype(number):
    """The numpy dtype that elements of a type are stored as."""
    import numpy as np

    name = _NAMES[number % 100]
    if name in ("string", "resource", "variant"):
        return np.dtype(object)
    if name in _QUANTIZED:
        return np.dtype([(name, _QUANTIZED_STORAGE[name])])
    if name in ("bfloat16", "int4", "uint4", "int2", "uint2", "float4_e2m1fn") or name.startswith("float8"):
        return np.dtype(getattr(_ml_dtypes(), name))
    return np.dtype(name)


@functools.cache
def storage_dtype(number):
    """The numpy dtype of a tensor's array: of quantized types their plain numbers."""
    import numpy as np

    name = _NAMES[number % 100]
    return np.dtype(_QUANTIZED_STORAGE[name]) if name in _QUANTIZED else numpy_dtype(number)


class DType:
    """The type of the elements of a tensor."""

    __slots__ = ("_type_enum", "_name", "__weakref__")
    _by_number = {}

    def __new__(cls, type_enum, handle_data=None):
        if type_enum in cls._by_number:
            return cls._by_number[type_enum]
        number = int(type_enum)
        if number % 100 not in _NAMES or number > 133:
            raise TypeError(f"{number} does not correspond to a valid tensorflow::DataType")
        self = super().__new__(cls)
        self._type_enum = number
        self._name = _NAMES[number % 100] + ("_ref" if number > 100 else "")
        cls._by_number[number] = self
        return self

    @property
    def name(self):
        return self._name

    @property
    def as_datatype_enum(self):
        return self._type_enum

    @property
    def _is_ref_dtype(self):
        return self._type_enum > 100

    @property
    def _as_ref(self):
        return self if self._type_enum > 100 else DType(self._type_enum + 100)

    @property
    def base_dtype(self):
        return DType(self._type_enum - 100) if self._type_enum > 100 else self

    @property
    def real_dtype(self):
        base = self.base_dtype
        return float32 if base is complex64 else float64 if base is complex128 else self

    @property
    def as_numpy_dtype(self):
        import numpy as np

        return object if numpy_dtype(self._type_enum) == object else numpy_dtype(self._type_enum).type

    @property
    def is_bool(self):
        return self.base_dtype is bool

    @property
    def is_floating(self):
        return self.base_dtype._name in _FLOATS

    @property
    def is_integer(self):
        return self.base_dtype._name in _INTS

    @property
    def is_complex(self):
        return self.base_dtype._name in ("complex64", "complex128")

    @property
    def is_numeric(self):
        return self.is_floating or self.is_integer or self.is_complex or self.is_quantized

    @property
    def is_quantized(self):
        return self.base_dtype._name in _QUANTIZED

    @property
    def is_unsigned(self):
        return self.base_dtype._name in ("uint8", "uint16", "uint32", "uint64", "uint4", "uint2")

    @property
    def is_numpy_compatible(self):
        return self.base_dtype._name not in ("resource", "variant")

    @property
    def size(self):
        return _SIZES.get(self.base_dtype._name, 1)

    def _limit(self, which):
        import numpy as np

        if not (self.is_floating or self.is_integer):
            raise TypeError(
                f"Cannot find {which}imum value of {self} with {'quantized ' if self.is_quantized else ''}type {self}."
            )
        kind = numpy_dtype(self.base_dtype._type_enum)
        if kind.isbuiltin == 1:
            info = np.finfo(kind) if self.is_floating else np.iinfo(kind)
        else:
            info = _ml_dtypes().finfo(kind) if self.is_floating else _ml_dtypes().iinfo(kind)
        return getattr(info, which)

    @property
    def min(self):
        return self._limit("min")

    @property
    def max(self):
        return self._limit("max")

    @property
    def limits(self):
        """What pixels of this type go up to, from 0."""
        if self.is_bool:
            return 0, True
        if self._name in ("float16", "float32", "float64"):
            return 0, 1
        if not self.is_integer:
            raise ValueError(f"{self} does not have defined limits.")
        return 0, self.max

    def is_compatible_with(self, other):
        other = as_dtype(other)
        return self._type_enum in (other._type_enum, other.base_dtype._type_enum)

    def is_subtype_of(self, other):
        return self == other

    def most_specific_common_supertype(self, others):
        return self if all(self == o for o in others) else None

    def __eq__(self, other):
        if other is None:
            return False
        if type(other) is not DType:
            try:
                other = as_dtype(other)
            except TypeError:
                return False
        return self._type_enum == other._type_enum

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return self._type_enum

    def __int__(self):
        return self._type_enum

    def __str__(self):
        return f"<dtype: {self._name!r}>"

    def __repr__(self):
        return "tf." + self._name

    def __reduce__(self):
        return DType, (self._type_enum,)


for _number, _name in _NAMES.items():
    globals()[_name] = DType(_number)
    DType(_number + 100)
half, double = DType(19), DType(2)

_BUILTINS = {float: DType(1), object: DType(7), type(True): DType(10)}
_BY_NAME = {d._name: d for d in DType._by_number.values()} | {
    "half": DType(19),
    "float": DType(1),
    "double": DType(2),
    "half_ref": DType(119),
    "float_ref": DType(101),
    "double_ref": DType(102),
}


def as_dtype(type_value):
    """The DType that a DType, number, name, numpy type or Python type stands for."""
    if type(type_value) is DType:
        return type_value
    try:
        found = _BUILTINS.get(type_value)
    except TypeError:
        found = None
    if found is not None:
        return found
    if isinstance(type_value, str):
        found = _BY_NAME.get(type_value)
    elif isinstance(type_value, (int, float)):
        found = DType._by_number.get(type_value)
    elif type_value is not None:
        found = _from_numpy(type_value)
    if found is not None:
        return found
    raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")


def _from_numpy(value):
    import numpy as np

    if isinstance(value, type) and issubclass(value, np.generic):
        kind = np.dtype(value)
    else:
        kind = getattr(value, "dtype", value)
    if not isinstance(kind, np.dtype):
        return None
    if kind.fields and len(kind.fields) == 1:
        return _BY_NAME.get(next(iter(kind.fields)))
    if kind.kind in "SUO":
        return DType(7)
    return _BY_NAME.get(kind.name)
