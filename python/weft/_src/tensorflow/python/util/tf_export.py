"""The decorator that gives functions public names: it records them on the function, for tools that make documentation. tf-keras, TensorBoard."""

import collections

from weft._src.tensorflow.python.util import tf_decorator

ESTIMATOR_API_NAME, KERAS_API_NAME, TENSORFLOW_API_NAME = "estimator", "keras", "tensorflow"
SUBPACKAGE_NAMESPACES = [ESTIMATOR_API_NAME]
_Attributes = collections.namedtuple("ExportedApiAttributes", ["names", "constants"])
API_ATTRS = {
    api: _Attributes(f"_{prefix}_api_names", f"_{prefix}_api_constants")
    for api, prefix in ((TENSORFLOW_API_NAME, "tf"), (ESTIMATOR_API_NAME, "estimator"), (KERAS_API_NAME, "keras"))
}
API_ATTRS_V1 = {
    api: _Attributes(f"_{prefix}_api_names_v1", f"_{prefix}_api_constants_v1")
    for api, prefix in ((TENSORFLOW_API_NAME, "tf"), (ESTIMATOR_API_NAME, "estimator"), (KERAS_API_NAME, "keras"))
}
_NAME_TO_SYMBOL_MAPPING = {}


class SymbolAlreadyExposedError(Exception):
    """A function got public names twice."""


class InvalidSymbolNameError(Exception):
    """A public name of one API that another one's names begin with."""


class api_export:  # noqa: N801 (TensorFlow's name)
    """The decorator: `@tf_export("a.b", v1=["a.b", "c"])`."""

    def __init__(self, *args, api_name=TENSORFLOW_API_NAME, v1=None, allow_multiple_exports=True):
        self._names, self._names_v1 = args, v1 if v1 is not None else args
        self._api_name = api_name
        self._validate_symbol_names()

    def _validate_symbol_names(self):
        every = set(self._names) | set(self._names_v1)
        if self._api_name == TENSORFLOW_API_NAME:
            for space in SUBPACKAGE_NAMESPACES:
                if any(name.startswith(space) for name in every):
                    raise InvalidSymbolNameError(f"@tf_export is not allowed to export symbols under {space}.*")
        elif not all(name.startswith(self._api_name) for name in every):
            raise InvalidSymbolNameError(
                f"Can only export symbols under package name of component. e.g. {self._api_name}.*"
            )

    def __call__(self, func):
        undecorated = tf_decorator.unwrap(func)[1]
        for attributes, names in (
            (API_ATTRS[self._api_name], self._names),
            (API_ATTRS_V1[self._api_name], self._names_v1),
        ):
            setattr(undecorated, attributes.names, names)
        for name in self._names:
            _NAME_TO_SYMBOL_MAPPING[name] = func
        for name in self._names_v1:
            _NAME_TO_SYMBOL_MAPPING["compat.v1." + name] = func
        return func

    def export_constant(self, module_name, name):
        import sys

        module = sys.modules[module_name]
        for attributes, names in (
            (API_ATTRS[self._api_name], self._names),
            (API_ATTRS_V1[self._api_name], self._names_v1),
        ):
            if not hasattr(module, attributes.constants):
                setattr(module, attributes.constants, [])
            getattr(module, attributes.constants).append((names, name))


class tf_export(api_export):  # noqa: N801
    pass


class keras_export(api_export):  # noqa: N801
    def __init__(self, *args, v1=None, allow_multiple_exports=True):
        super().__init__(*args, api_name=KERAS_API_NAME, v1=v1)


def kwarg_only(f):
    """A function that refuses positional arguments."""
    from weft._src.tensorflow.python.util import tf_inspect

    spec = tf_inspect.getfullargspec(f)

    def wrapper(*args, **kwargs):
        if args:
            raise TypeError(
                f"{f.__name__} only takes keyword args (possible keys: {spec.args}). Please pass these args as kwargs instead."
            )
        return f(**kwargs)

    return tf_decorator.make_decorator(f, wrapper, decorator_argspec=spec)


def _names_of(symbol, tables):
    undecorated = tf_decorator.unwrap(symbol)[1]
    own = vars(undecorated) if hasattr(undecorated, "__dict__") else {}
    return [name for table in tables for name in own.get(table.names, ())]


def get_v2_names(symbol):
    return _names_of(symbol, [API_ATTRS[TENSORFLOW_API_NAME], API_ATTRS[KERAS_API_NAME]])


def get_v1_names(symbol):
    return _names_of(symbol, [API_ATTRS_V1[TENSORFLOW_API_NAME], API_ATTRS_V1[KERAS_API_NAME]])


def get_symbol_from_name(name):
    if name in _NAME_TO_SYMBOL_MAPPING:
        return _NAME_TO_SYMBOL_MAPPING[name]
    from weft._src.tensorflow import public_value

    return public_value(name)


def get_canonical_name_for_symbol(symbol, api_name=TENSORFLOW_API_NAME, add_prefix_to_v1_names=False):
    """The first of a function's names that is not deprecated, or None."""
    undecorated = tf_decorator.unwrap(symbol)[1]
    own = vars(undecorated) if hasattr(undecorated, "__dict__") else {}
    deprecated = own.get("_tf_deprecated_api_names", ())
    for table, prefix in (
        (API_ATTRS[api_name], ""),
        (API_ATTRS_V1[api_name], "compat.v1." if add_prefix_to_v1_names else ""),
    ):
        names = own.get(table.names, ())
        for name in names:
            if name not in deprecated:
                return prefix + name
        if names and table is API_ATTRS[api_name]:
            return names[0]
        if names:
            return prefix + names[0]
    if api_name == TENSORFLOW_API_NAME:
        from weft._src.tensorflow import public_name

        found = public_name(undecorated)
        if found is not None:
            return found if add_prefix_to_v1_names else found.removeprefix("compat.v1.")
    return None


def get_canonical_name(api_names, deprecated_api_names):
    return next((name for name in api_names if name not in deprecated_api_names), api_names[0] if api_names else None)
