"""docs/python_api.md says which symbols there are; this sees that it is true."""

import api_table
import pytest

SYMBOLS = [(symbol, uses) for symbol, uses, _ in api_table.rows()]


def test_the_page_is_true():
    assert api_table.TARGET.read_text() == api_table.table(), "run tests/python/api_table.py --write"


def test_what_programs_use_most_is_there():
    used = [(s, u) for s, u in SYMBOLS if u]
    missing = [s for s, _ in used if not api_table.has(s)]
    assert len(missing) <= 0.01 * len(used), missing


@pytest.mark.parametrize(
    "name", ["tf.no_such_thing", "tf.math.no_such_thing", "tf.nn.no_such_thing", "tf.data.experimental.no_such_thing"]
)
def test_what_is_not_there_says_so(name):
    value, parts = api_table.tf, name.split(".")[1:]
    for part in parts[:-1]:
        value = getattr(value, part)
    with pytest.raises(AttributeError, match=f"has no attribute .{parts[-1]}."):
        getattr(value, parts[-1])
