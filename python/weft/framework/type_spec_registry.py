"""Specs of the user's by name: what SavedModels write for them."""

import re

_by_name, _names = {}, {}
_VALID = re.compile(r"^(\w+\.)+\w+$")


def register(name):
    """The decorated spec class is saved under a name like "package.Class"."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not _VALID.match(name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' (e.g. 'my_project.MyTypeSpec'); "
            f"got {name!r}."
        )

    def decorator(cls):
        if cls in _names:
            raise ValueError(
                f"Class {cls.__module__}.{cls.__name__} has already been registered with name " f"{_names[cls]}."
            )
        if name in _by_name:
            known = _by_name[name]
            raise ValueError(f"Name {name} has already been registered for class {known.__module__}.{known.__name__}.")
        _by_name[name], _names[cls] = cls, name
        return cls

    return decorator


def get_name(cls):
    if cls not in _names:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return _names[cls]


def lookup(name):
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if name not in _by_name:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _by_name[name]
