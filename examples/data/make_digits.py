"""Writes digits.npz from the copy of the UCI optical digits that scikit-learn carries (pip install scikit-learn).

The archive holds `images`, uint8 [1797, 8, 8] with values 0 to 16, and `labels`, int32 [1797], in scikit-learn's order.
"""

import importlib.util
import pathlib

import numpy as np

csv = pathlib.Path(importlib.util.find_spec("sklearn").origin).parent / "datasets" / "data" / "digits.csv.gz"
rows = np.loadtxt(csv, delimiter=",")
assert rows.shape == (1797, 65) and rows[:, :64].min() == 0 and rows[:, :64].max() == 16
here = pathlib.Path(__file__).parent
np.savez_compressed(
    here / "digits.npz", images=rows[:, :64].astype(np.uint8).reshape(-1, 8, 8), labels=rows[:, 64].astype(np.int32)
)
