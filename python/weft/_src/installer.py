"""python -m weft.install_as_tensorflow: a distribution named `tensorflow` that holds nothing but the door to weft, so that packages which require TensorFlow by their
metadata install, and `import tensorflow` works in a plain Python."""

import argparse
import base64
import hashlib
import importlib.metadata
import pathlib
import shutil
import sys
import sysconfig

VERSION = "2.21.0"
MARK = "weft.install_as_tensorflow"  # the INSTALLER of what this puts there
# Distributions that have a package `tensorflow` themselves.
REAL = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-rocm",
    "tf-nightly",
    "tf-nightly-cpu",
)

DOOR = '''"""`tensorflow` means weft here: this distribution is the door to weft, and not TensorFlow. python -m weft.install_as_tensorflow --remove takes it away."""

import sys

try:
    import weft.as_tensorflow  # puts weft into the place of this module
except ModuleNotFoundError as error:
    if error.name != "weft" or not {folder!r}:
        raise
    sys.path.append({folder!r})  # where weft was when this was installed
    import weft.as_tensorflow
'''

METADATA = """Metadata-Version: 2.1
Name: tensorflow
Version: {version}
Summary: weft in the place of TensorFlow: `import tensorflow` gives weft. This is not TensorFlow.
License: Apache-2.0
Requires-Python: >=3.11
{requires}
`python -m weft.install_as_tensorflow` made this. `python -m weft.install_as_tensorflow --remove` or `pip uninstall tensorflow` takes it away.
"""


class Refused(Exception):
    """Why nothing was done."""


def _info(site):
    return site / f"tensorflow-{VERSION}.dist-info"


def _is_ours(site):
    installer = _info(site) / "INSTALLER"
    return installer.is_file() and installer.read_text().strip() == MARK


def _check(site):
    """Raises where TensorFlow itself is."""
    for distribution in importlib.metadata.distributions(path=[str(site), *sys.path]):
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if name in REAL and (distribution.read_text("INSTALLER") or "").strip() != MARK:
            where = distribution.locate_file("")
            raise Refused(
                f"{name} {distribution.version} is installed in {where}; uninstall it first: pip uninstall {name}"
            )
    if (site / "tensorflow").exists() and not _is_ours(site):
        raise Refused(f"{site / 'tensorflow'} is there and not of this program")


def _record(site, files):
    """pip's list of files: name, hash, size."""
    lines = []
    for file in files:
        data = file.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{file.relative_to(site).as_posix()},sha256={digest},{len(data)}")
    lines.append(f"{_info(site).name}/RECORD,,")
    return "\n".join(lines) + "\n"


def _weft_requirement():
    """A line of METADATA, where weft is a distribution itself and not a folder of a build."""
    try:
        return f"Requires-Dist: weft (=={importlib.metadata.version('weft')})\n"
    except importlib.metadata.PackageNotFoundError:
        return ""


def install(site):
    """Puts the distribution into a folder of packages."""
    import weft

    _check(site)
    remove(site, missing_ok=True)
    home = pathlib.Path(weft.__file__).resolve().parent.parent
    folder = "" if home == site.resolve() else str(home)
    package, info = site / "tensorflow", _info(site)
    package.mkdir(parents=True)
    info.mkdir()
    contents = {
        package / "__init__.py": DOOR.format(folder=folder),
        info / "METADATA": METADATA.format(version=VERSION, requires=_weft_requirement()),
        info / "WHEEL": "Wheel-Version: 1.0\nGenerator: weft\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        info / "INSTALLER": MARK + "\n",
        info / "top_level.txt": "tensorflow\n",
    }
    for file, text in contents.items():
        file.write_text(text)
    (info / "RECORD").write_text(_record(site, contents))


def remove(site, missing_ok=False):
    """Takes it away again; whether it was there."""
    if not _is_ours(site):
        if missing_ok:
            return False
        _check(site)
        raise Refused(f"there is no `tensorflow` of weft's in {site}")
    for line in (_info(site) / "RECORD").read_text().splitlines():
        (site / line.partition(",")[0]).unlink(missing_ok=True)
    for folder in (site / "tensorflow", _info(site)):
        shutil.rmtree(folder, ignore_errors=True)
    return True


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m weft.install_as_tensorflow", description=__doc__.partition(": ")[2]
    )
    parser.add_argument("--remove", action="store_true", help="take it away again")
    parser.add_argument("--target", metavar="FOLDER", help="the folder of packages; that of this Python if not given")
    options = parser.parse_args(arguments)
    site = pathlib.Path(options.target or sysconfig.get_paths()["purelib"])
    try:
        if options.remove:
            remove(site)
            print(f"`tensorflow` does not mean weft in {site} any more.")
        else:
            install(site)
            print(
                f"tensorflow {VERSION} in {site} is the door to weft now: `import tensorflow` gives weft. It is not TensorFlow.\n"
                "To take it away: python -m weft.install_as_tensorflow --remove (or pip uninstall tensorflow)."
            )
    except Refused as why:
        print(f"Refused: {why}.", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Failed: {error}.", file=sys.stderr)
        return 1
    return 0
