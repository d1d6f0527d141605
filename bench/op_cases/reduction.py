"""Reductions and scans."""

import numpy as np

from op_cases.base import case, floats, i32, image, integers, raw, rows, square

_REDUCTIONS = "Sum Mean Max Min Prod".split()


def _reduction(dtype, shape_of, *axes):
    def make(tf, n, op, kind):
        values = (
            floats(*shape_of(n)).astype(dtype) if "float" in dtype else integers(*shape_of(n), high=9).astype(dtype)
        )
        return raw(tf, op, input=values, axis=i32(*axes))

    return make


case(*[f"{op}/all" for op in _REDUCTIONS])(_reduction("float32", lambda n: (n,), 0))
case(*[f"{op}/rows" for op in _REDUCTIONS])(_reduction("float32", rows, 1))
case(*[f"{op}/columns" for op in _REDUCTIONS])(_reduction("float32", rows, 0))
case(*[f"{op}/wide rows" for op in _REDUCTIONS])(_reduction("float32", square, 1))
case(*[f"{op}/image" for op in _REDUCTIONS])(_reduction("float32", image, 1, 2))
case("Sum/int32", "Max/int32")(_reduction("int32", lambda n: (n,), 0))
case("Max/int rows", "Sum/int rows")(_reduction("int32", rows, 1))
case("Sum/double", "Max/double")(_reduction("float64", rows, 1))


@case("All", "Any")
def _all(tf, n, op, kind):
    return raw(tf, op, input=np.full(n, op == "All"), axis=i32(0))


@case("All/rows", "Any/rows")
def _all_rows(tf, n, op, kind):
    return raw(tf, op, input=floats(*rows(n)) > 0, axis=i32(1))


@case("ArgMax", "ArgMin")
def _arg(tf, n, op, kind):
    return raw(tf, op, input=floats(*rows(n)), dimension=np.int32(1).reshape(()))


@case("ArgMax/columns", "ArgMin/columns")
def _arg_columns(tf, n, op, kind):
    return raw(tf, op, input=floats(*rows(n)), dimension=np.int32(0).reshape(()))


@case("ArgMax/wide rows")
def _arg_wide(tf, n, op, kind):
    return raw(tf, op, input=floats(*square(n)), dimension=np.int32(1).reshape(()))


@case("Cumsum", "Cumprod")
def _scan(tf, n, op, kind):
    return raw(tf, op, x=floats(*rows(n)), axis=np.int32(1).reshape(()))


@case("Cumsum/all")
def _scan_all(tf, n, op, kind):
    return raw(tf, op, x=floats(n), axis=np.int32(0).reshape(()))


@case("Cumsum/columns")
def _scan_columns(tf, n, op, kind):
    return raw(tf, op, x=floats(*rows(n)), axis=np.int32(0).reshape(()))


@case("L2Loss")
def _l2(tf, n, op, kind):
    return raw(tf, op, t=floats(n))


@case("EuclideanNorm")
def _norm(tf, n, op, kind):
    return raw(tf, op, input=floats(*rows(n)), axis=i32(1))
