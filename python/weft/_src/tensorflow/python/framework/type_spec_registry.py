"""Specs by name. tensorflow-probability takes its own out again."""

from weft._src.framework.type_spec_registry import _by_name as _NAME_TO_TYPE_SPEC, _names as _TYPE_SPEC_TO_NAME  # noqa: F401
