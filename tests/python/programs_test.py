"""User programs print under weft what they print under TensorFlow (programs/NAME.out, see programs/record.py)."""

import concurrent.futures
import os

import pytest

import program_runner as programs

KNOWN = programs.known()


@pytest.fixture(scope="module")
def outcomes(request):
    """Futures of what programs.check says of each program that was asked for; one runs on each core at a time."""
    chosen = [i.callspec.params["name"] for i in request.session.items if i.name.startswith("test_prints_what")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {name: pool.submit(programs.check, name) for name in chosen}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", programs.names())
def test_prints_what_tensorflow_prints(name, outcomes):
    lines = outcomes[name].result()
    if name in KNOWN:
        assert lines, f"{name} passes: take it out of known.txt ({KNOWN[name]})"
        pytest.xfail(KNOWN[name])
    if lines and "*" in KNOWN:
        pytest.xfail(KNOWN["*"])
    assert not lines, "\n".join(lines)


def test_known_names_programs():
    assert set(KNOWN) - {"*"} <= set(programs.names())


def test_every_program_is_recorded():
    assert [n for n in programs.names() if not (programs.FOLDER / f"{n}.out").exists()] == []


@pytest.mark.parametrize(
    "want, got, same",
    [
        ("[1.5 2.25]", "[1.5 2.25]", True),
        ("[1.        0.3333333]", "[1.         0.33333334]", True),
        ("[1.5 2.25]", "[1.5 2.26]", False),
        ("shape=(2, 3)", "shape=(2,  3)", False),
        ("step 10", "step 11", False),
        ("1e-07", "2e-07", True),
        ("Add_1:0 0.1", "Add_2:0 0.1", False),
        ("nan 0.5", "0.1 0.5", False),
        ("value 2.0", "value 2", False),
        ("[1 0.5]", "[0.99999994 0.5]", True),
        ("bad [Op:Mul] name: ", "bad [Op:Mul]", True),
        ("bad [Op:Mul] name: mul", "bad [Op:Add] name: mul", False),
        ("{{function_node __wrapped__AddV2_device_/CPU:0}} Incompatible shapes", "Incompatible shapes", True),
    ],
)
def test_comparison(want, got, same):
    assert programs.same_line(want, got) == same
