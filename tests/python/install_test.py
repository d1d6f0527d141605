"""python -m weft.install_as_tensorflow: a distribution that Python and pip see, in an environment of its own."""

import os
import pathlib
import subprocess
import sys
import sysconfig

import pytest

import weft
from weft._src import installer

HOME = pathlib.Path(weft.__file__).parent.parent
SECONDS = 600


def call(*command, path=None, env=None):
    given = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "WEFT_EXTENSION_DIR")}
    given.update(env or {})
    if path:
        given["PYTHONPATH"] = str(path)
    return subprocess.run([str(c) for c in command], env=given, capture_output=True, text=True, timeout=SECONDS)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment with pip, which finds what weft needs in that of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    made = call(sys.executable, "-m", "venv", folder)
    assert made.returncode == 0, made.stderr
    python = folder / "bin/python"
    site = pathlib.Path(call(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").stdout.strip())
    (site / "needs.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    info = site / "needs_tf-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: needs-tf\nVersion: 1.0\nRequires-Dist: tensorflow <2.22,>=2.20\n"
    )
    (info / "INSTALLER").write_text("test\n")
    (info / "RECORD").write_text("")
    return python, site


def install(python, *arguments):
    return call(python, "-m", "weft.install_as_tensorflow", *arguments, path=HOME)


def complaints(python):
    """What pip check says of the package that needs TensorFlow."""
    return [line for line in call(python, "-m", "pip", "check").stdout.splitlines() if "needs-tf" in line]


def test_installed_and_removed(environment):
    python, site = environment
    assert "requires tensorflow, which is not installed" in complaints(python)[0]
    made = install(python)
    assert made.returncode == 0 and "It is not TensorFlow." in made.stdout and str(site) in made.stdout, made.stderr
    # A plain Python, which is told nothing of weft.
    out = call(python, "-c", "import tensorflow as tf; print(tf.__version__, (tf.constant(1) + 1).numpy())")
    assert out.stdout == "2.21.0 2\n", out.stderr
    first = call(
        python,
        "-c",
        "from tensorflow.python.util import nest; import tensorflow.compat.v1 as tf; print(nest.flatten([1, [2]]), tf.__name__)",
    )
    assert first.stdout.startswith("[1, 2]"), first.stderr
    known = call(
        python,
        "-c",
        "from importlib import metadata as m; d = m.distribution('tensorflow'); print(d.version, d.metadata['Summary'])",
    )
    assert (
        known.stdout
        == "2.21.0 weft in the place of TensorFlow: `import tensorflow` gives weft. This is not TensorFlow.\n"
    )
    assert complaints(python) == []
    # Once more changes nothing.
    assert install(python).returncode == 0
    assert call(python, "-m", "pip", "uninstall", "-y", "tensorflow").returncode == 0
    assert not (site / "tensorflow").exists() and not list(site.glob("tensorflow-*"))
    assert call(python, "-c", "import tensorflow").returncode == 1


def test_removes_itself(environment):
    python, site = environment
    assert install(python).returncode == 0
    call(python, "-c", "import tensorflow")  # leaves compiled files
    made = install(python, "--remove")
    assert made.returncode == 0 and "does not mean weft" in made.stdout
    assert not (site / "tensorflow").exists() and not list(site.glob("tensorflow-*"))
    again = install(python, "--remove")
    assert again.returncode == 1 and "there is no `tensorflow` of weft's" in again.stderr


@pytest.mark.parametrize("name", ["tensorflow", "tensorflow_cpu"])
def test_refuses_where_tensorflow_is(tmp_path, name, capsys):
    info = tmp_path / f"{name}-2.19.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.19.0\n")
    (info / "INSTALLER").write_text("pip\n")
    for arguments in ([], ["--remove"]):
        assert installer.main([*arguments, "--target", str(tmp_path)]) == 1
        assert f"{name.replace('_', '-')} 2.19.0 is installed in" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == [info.name]


def test_refuses_a_folder_that_is_not_its_own(tmp_path, capsys):
    (tmp_path / "tensorflow").mkdir()
    assert installer.main(["--target", str(tmp_path)]) == 1
    assert "is there and not of this program" in capsys.readouterr().err


def test_record_is_what_is_there(tmp_path):
    assert installer.main(["--target", str(tmp_path)]) == 0
    listed = [line.split(",")[0] for line in (tmp_path / "tensorflow-2.21.0.dist-info/RECORD").read_text().splitlines()]
    assert sorted(listed) == sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())


LEGACY = """
import sys, types
for name in ("tf_keras", "tf_keras.api", "tf_keras.api._v2", "tf_keras.api._v2.keras", "tf_keras.api._v1", "tf_keras.api._v1.keras"):
    made = types.ModuleType(name)
    made.__path__ = []
    made.marker = name
    sys.modules[name] = made
import weft as tf
print(tf.keras.marker, tf.compat.v1.keras.marker)
"""


def test_legacy_keras():
    """TF_USE_LEGACY_KERAS: tf.keras is the package tf_keras."""
    out = call(sys.executable, "-c", LEGACY, path=HOME, env={"TF_USE_LEGACY_KERAS": "1"})
    assert out.stdout == "tf_keras.api._v2.keras tf_keras.api._v1.keras\n", out.stderr
    missing = call(
        sys.executable, "-c", "import weft; weft.keras.layers", path=HOME, env={"TF_USE_LEGACY_KERAS": "True"}
    )
    assert (
        "you do not have the tf_keras package installed" in missing.stderr
        and "ImportError: Keras cannot be imported" in missing.stderr
    )
