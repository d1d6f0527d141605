"""Names, hints and kinds of products, solutions, inverses and factors of linear operators; blocks as lists; slices; refusals."""

import tensorflow as tf

L = tf.linalg
DIAG, TRIL = [1.0, 2.0], [[1.0, 0.0], [3.0, 4.0]]
kinds = {
    "diag": L.LinearOperatorDiag(DIAG, is_positive_definite=True, name="left"),
    "tril": L.LinearOperatorLowerTriangular(TRIL, is_non_singular=True, name="right"),
    "full": L.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 2.0]], is_self_adjoint=True, is_positive_definite=True),
    "eye": L.LinearOperatorIdentity(2),
    "scaled": L.LinearOperatorScaledIdentity(2, 3.0, is_non_singular=True),
    "zeros": L.LinearOperatorZeros(2),
    "circulant": L.LinearOperatorCirculant(tf.constant([1.0, 2.0], tf.complex64), input_output_dtype=tf.float32),
    "house": L.LinearOperatorHouseholder([1.0, 1.0]),
    "perm": L.LinearOperatorPermutation([1, 0]),
}
blocks = L.LinearOperatorBlockDiag([kinds["diag"], kinds["full"]])
kron = L.LinearOperatorKronecker([kinds["full"], kinds["diag"]])
lower = L.LinearOperatorBlockLowerTriangular([[kinds["diag"]], [kinds["full"], kinds["tril"]]])


def tell(what, call):
    try:
        made = call()
        dense = made.to_dense().numpy().round(3).tolist() if isinstance(made, L.LinearOperator) else None
    except Exception as e:
        print(what, type(e).__name__, str(e).splitlines()[0])
        return
    if isinstance(made, L.LinearOperator):
        hints = [made.is_non_singular, made.is_self_adjoint, made.is_positive_definite, made.is_square]
        print(what, type(made).__name__, made.name, made.dtype.name, hints, dense)
    elif isinstance(made, list):
        print(what, [t.numpy().round(3).tolist() for t in made])
    else:
        print(what, made.numpy().round(3).tolist() if isinstance(made, tf.Tensor) else made)


for a, left in kinds.items():
    for b, right in kinds.items():
        tell(f"{a} {b}", lambda: left.matmul(right))
        if not {"zeros", "perm"} & {a, b}:
            tell(f"{a} solve {b}", lambda: left.solve(right))
    for method in ("adjoint", "inverse", "cholesky", "trace", "determinant", "log_abs_determinant", "eigvals", "cond"):
        if a != "circulant" or method != "cholesky":
            tell(f"{a} {method}", getattr(left, method))
for name, op in (("blocks", blocks), ("kron", kron), ("lower", lower)):
    for method in ("adjoint", "inverse", "trace", "determinant", "diag_part"):
        tell(f"{name} {method}", getattr(op, method))
tell("blocks blocks", lambda: blocks @ blocks)
tell("blocks solve blocks", lambda: blocks.solve(blocks))
for op in (blocks, lower):
    x = [tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [4.0]])]
    for adjoint in (False, True):
        tell("as lists", lambda: op.matmul(x, adjoint=adjoint))
        tell("as lists", lambda: op.solve(x, adjoint=adjoint))
        tell("as vectors", lambda: op.matvec([[1.0, 2.0], [3.0, 4.0]], adjoint=adjoint))
        tell("as vectors", lambda: op.solvevec([[1.0, 2.0], [3.0, 4.0]], adjoint=adjoint))
        tell("whole", lambda: op.matmul(tf.concat(x, 0), adjoint=adjoint))
        tell("whole", lambda: op.solve(tf.concat(x, 0), adjoint=adjoint))
        tell("turned", lambda: op.matmul(tf.transpose(tf.concat(x, 0)), adjoint=adjoint, adjoint_arg=True))

stack = L.LinearOperatorDiag(tf.reshape(tf.range(12.0), [3, 2, 2]))
tell("slice", lambda: stack[1])
tell("slice", lambda: stack[1:, 0])
tell("slice", lambda: stack[..., 1])
tell("slice", lambda: L.LinearOperatorIdentity(2, batch_shape=[3])[:2])
tell("dimension", lambda: repr(stack.domain_dimension))

for name, call in {
    "definite": lambda: L.LinearOperatorFullMatrix([[1.0]], is_positive_definite=True, is_non_singular=False),
    "square": lambda: L.LinearOperatorFullMatrix([[1.0]], is_non_singular=True, is_square=False),
    "adjoint": lambda: L.LinearOperatorFullMatrix([[1.0]], is_self_adjoint=True, is_square=False),
    "hint": lambda: L.LinearOperatorFullMatrix([[1.0]], is_square=False).is_square,
    "dtype": lambda: kinds["diag"].matmul(tf.constant([[1], [2]])),
    "sizes": lambda: kinds["diag"].matvec([1.0, 2.0, 3.0]),
    "operators": lambda: kinds["diag"].matmul(L.LinearOperatorIdentity(3)),
    "integers": lambda: L.LinearOperatorFullMatrix([[1]]),
    "real": lambda: L.LinearOperatorDiag([1.0], is_self_adjoint=False),
    "rows": lambda: L.LinearOperatorIdentity(-1),
    "rank": lambda: L.LinearOperatorIdentity([2]),
    "kind": lambda: L.LinearOperatorZeros(2.0),
    "zeros": lambda: L.LinearOperatorZeros(2, 3),
    "singular": lambda: L.LinearOperatorZeros(2, is_non_singular=True),
    "identity": lambda: L.LinearOperatorIdentity(2, is_self_adjoint=False),
    "scaled": lambda: L.LinearOperatorScaledIdentity(2, 1.0, is_square=False),
    "house": lambda: L.LinearOperatorHouseholder([1.0], is_positive_definite=True),
    "perm": lambda: L.LinearOperatorPermutation([1, 1]),
    "perm square": lambda: L.LinearOperatorPermutation([1, 0], is_square=False),
    "toeplitz": lambda: L.LinearOperatorToeplitz([1.0, 2.0], [1.0]),
    "tridiag": lambda: L.LinearOperatorTridiag([1.0], "lines"),
    "no operators": lambda: L.LinearOperatorComposition([]),
    "no product": lambda: L.LinearOperatorKronecker([]),
    "two dtypes": lambda: L.LinearOperatorBlockDiag([kinds["diag"], L.LinearOperatorDiag(tf.ones([1], tf.float64))]),
    "rows of blocks": lambda: L.LinearOperatorBlockLowerTriangular([[kinds["diag"]], [kinds["diag"]]]),
    "update": lambda: L.LinearOperatorLowRankUpdate(kinds["diag"], [[1.0], [1.0]], is_diag_update_positive=False),
    "not the inverse": lambda: L.LinearOperatorInversion(kinds["full"], is_self_adjoint=False),
    "of singular": lambda: L.LinearOperatorInversion(kinds["zeros"]),
    "zeros inverse": lambda: kinds["zeros"].assert_non_singular(),
    "house definite": lambda: kinds["house"].assert_positive_definite(),
    "diagonal": lambda: L.LinearOperatorDiag([0.0, 1.0]).assert_non_singular(),
    "negative": lambda: L.LinearOperatorDiag([-1.0, 1.0]).assert_positive_definite(),
}.items():
    tell(name, call)

for name, call in {
    "adjoint": lambda: L.adjoint(kinds["tril"]),
    "cholesky": lambda: L.cholesky(kinds["full"]),
    "diag_part": lambda: L.diag_part(kinds["tril"]),
    "det": lambda: L.det(kinds["tril"]),
    "inv": lambda: L.inv(kinds["diag"]),
    "logdet": lambda: L.logdet(kinds["full"]),
    "logdet refused": lambda: L.logdet(kinds["tril"]),
    "trace": lambda: L.trace(kinds["tril"]),
    "solve": lambda: L.solve(kinds["tril"], [[1.0], [2.0]]),
    "matmul": lambda: tf.matmul(kinds["tril"], [[1.0], [2.0]]),
    "matmul right": lambda: tf.matmul([[1.0, 2.0]], kinds["tril"]),
    "matmul transposed": lambda: tf.matmul(kinds["tril"], [[1.0], [2.0]], transpose_a=True),
}.items():
    tell(name, call)

three = [tf.Variable([1.0, 1.0, 0.0]), tf.Variable([3.0, 4.0, 5.0]), tf.Variable([0.0, 2.0, 2.0])]
for make, sources in (
    (lambda: L.LinearOperatorTridiag(three, "sequence"), three),
    (lambda: L.LinearOperatorToeplitz(three[1], three[1]), three[1:2]),
    (lambda: L.LinearOperatorHouseholder(three[1]), three[1:2]),
):
    op = make()
    with tf.GradientTape() as tape:
        y = op.matvec([1.0, 2.0, 3.0])[0]
    print(type(op).__name__, [g.numpy().round(3).tolist() for g in tape.gradient(y, sources)])
