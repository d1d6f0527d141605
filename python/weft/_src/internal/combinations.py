"""tf.__internal__.test.combinations: tests that run once for each combination of arguments."""

import collections
import contextlib
import functools
import inspect
import types


class NamedObject:
    """An object with a name for the test's."""

    def __init__(self, name, obj):
        self._name, self._obj = name, obj

    def __getattr__(self, name):
        if name in ("_name", "_obj"):  # not made yet: copies ask before
            raise AttributeError(name)
        return getattr(self._obj, name)

    def __call__(self, *args, **kwargs):
        return self._obj(*args, **kwargs)

    def __iter__(self):
        return self._obj.__iter__()

    def __repr__(self):
        return self._name


class ParameterModifier:
    """Changes the arguments of a combination before the test gets them."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name=None):
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs, requested_parameters):
        """{name: new value} of those that change."""
        return {}

    def __eq__(self, other):
        return self is other or (type(self) is type(other) and self._parameter_name == other._parameter_name)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._parameter_name if self._parameter_name else id(self))


class OptionalParameter(ParameterModifier):
    """An argument that tests need not take."""

    def modified_arguments(self, kwargs, requested_parameters):
        return (
            {} if self._parameter_name in requested_parameters else {self._parameter_name: self.DO_NOT_PASS_TO_THE_TEST}
        )


class TestCombination:
    """What arguments of a combination mean: whether to run it, in which contexts, and what the test sees."""

    __test__ = False  # nothing for test collectors

    def should_execute_combination(self, kwargs):
        return True, None

    def parameter_modifiers(self):
        return []

    def context_managers(self, kwargs):
        return []


class EagerGraphCombination(TestCombination):
    """mode="eager" or "graph"."""

    def context_managers(self, kwargs):
        mode = kwargs.pop("mode", None)
        if mode is None:
            return []
        if mode == "eager":
            from weft._src.internal.eager_context import eager_mode

            return [eager_mode()]
        if mode == "graph":
            from weft._src.framework.graph import Graph
            from weft._src.internal.eager_context import graph_mode

            return [Graph().as_default(), graph_mode()]
        raise ValueError(f"Argument 'mode' must be either 'eager' or 'graph'. Received: {mode}.")

    def parameter_modifiers(self):
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """tf_api_version=1 or 2: weft is version 2."""

    def should_execute_combination(self, kwargs):
        version = kwargs.pop("tf_api_version", None)
        if version == 1:
            return False, "Skipping a TF1.x test when TF2 is enabled."
        return True, None

    def parameter_modifiers(self):
        return [OptionalParameter("tf_api_version")]


def combine(**kwargs):
    """All combinations of the values of arguments; a value that is no list is one."""
    made = [collections.OrderedDict()]
    for name in sorted(kwargs):
        values = kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]]
        if not values:
            return []
        made = [collections.OrderedDict([*given.items(), (name, value)]) for given in made for value in values]
    return [collections.OrderedDict(sorted(given.items())) for given in made]


def times(*combined):
    """The product of lists of combinations."""
    made = [collections.OrderedDict()]
    for combinations in combined:
        together = []
        for left in made:
            for right in combinations:
                if left.keys() & right.keys():
                    raise ValueError(f"Keys need to not overlap: {left.keys()} vs {right.keys()}")
                together.append(collections.OrderedDict(sorted([*left.items(), *right.items()])))
        made = together
    return made


def _part(value):
    return "".join(filter(str.isalnum, str(value)))


def _generate(combinations, test_combinations=()):
    """The decorated test method, or all of a class, once for each combination."""
    known = [c() if isinstance(c, type) else c for c in test_combinations]

    def decorator(test_method_or_class):
        if isinstance(test_method_or_class, type):
            cls = test_method_or_class
            cls._test_method_ids = getattr(cls, "_test_method_ids", {})
            for name, method in list(cls.__dict__.items()):
                if not isinstance(method, types.FunctionType) or not name.startswith("test"):
                    continue
                delattr(cls, name)
                _add_methods(cls, name, decorator(method))
            return cls
        from absl.testing import parameterized

        method = _with_arguments(test_method_or_class, known)
        named = []
        for given in combinations:
            if not isinstance(given, collections.OrderedDict):
                given = collections.OrderedDict(sorted(given.items()))
            name = "".join(f"_{_part(k)}_{_part(v)}" for k, v in given.items())
            named.append(collections.OrderedDict([*given.items(), ("testcase_name", f"_test{name}")]))
        if not named:
            return None
        return parameterized.named_parameters(*named)(method)

    return decorator


def _add_methods(cls, name, generated):
    """Of one method of a class the methods of all combinations, as absl's metaclass adds those of a class body."""
    if generated is None:
        return
    for function in generated:
        setattr(cls, function.__name__, function)


def _with_arguments(method, known):
    """The test as it is called with a whole combination."""
    requested = [p.name for p in inspect.signature(method).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]

    @functools.wraps(method)
    def run(self, **kwargs):
        for combination in known:
            execute, reason = combination.should_execute_combination(kwargs.copy())
            if not execute:
                self.skipTest(f" - {reason}")
        arguments = kwargs.copy()
        for combination in known:
            for modifier in combination.parameter_modifiers():
                arguments.update(modifier.modified_arguments(kwargs.copy(), requested))
        arguments = {k: v for k, v in arguments.items() if v is not ParameterModifier.DO_NOT_PASS_TO_THE_TEST}
        left = sorted(set(arguments) - set(requested))
        if left:
            raise ValueError(f"Unhandled custom arguments: {left}")
        with contextlib.ExitStack() as stack:
            for combination in known:
                for manager in combination.context_managers(kwargs.copy()):
                    stack.enter_context(manager)
            return method(self, **arguments)

    run.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    del run.__wrapped__
    return run


DEFAULT_COMBINATIONS = (EagerGraphCombination(), TFVersionCombination())
generate = functools.partial(_generate, test_combinations=DEFAULT_COMBINATIONS)
