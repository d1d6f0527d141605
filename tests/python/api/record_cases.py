"""Writes data/cases.json: what TensorFlow gives for the calls of cases_*.py. Run it with TensorFlow's Python, in this folder:

python record_cases.py
"""

import json
import pathlib
import sys

import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cases  # noqa: E402

if __name__ == "__main__":
    recorded = {}
    for area in [*cases.AREAS, *cases.EAGER_AREAS]:
        lines, names = cases.load(area, tf)
        recorded[area] = {line: cases.attempt(line, names, tf) for line in lines}
    text = json.dumps(recorded, indent=0, allow_nan=True)
    (pathlib.Path(__file__).parent / "data" / "cases.json").write_text(text + "\n")
    print({area: len(found) for area, found in recorded.items()})
