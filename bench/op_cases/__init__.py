"""The calls that op_sweep.py times: the ops that programs use most, and their kin."""

from op_cases import array, elementwise, network, reduction, text, transform  # noqa: F401  each adds its cases
from op_cases.base import CASES

__all__ = ["CASES"]
