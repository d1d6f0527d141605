"""The pages of docs/python print what they say; what they say was printed by TensorFlow."""

import pathlib
import subprocess
import sys

import pytest

PAGES = sorted((pathlib.Path(__file__).parent.parent.parent / "docs/python").glob("*.md"))


def test_there_are_pages():
    assert len(PAGES) >= 5


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_page(page):
    if page.stem == "keras":
        from program_runner import has_keras

        if not has_keras():
            pytest.skip("the package keras is not installed")
    run = subprocess.run(
        [sys.executable, str(pathlib.Path(__file__).parent / "pages.py"), "check", str(page)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
