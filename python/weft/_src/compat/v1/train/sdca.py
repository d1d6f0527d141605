"""Ops of stochastic dual coordinate ascent, for linear models."""

from weft._src.ops._direct import define

define(
    globals(),
    """
sdca_fprint input
sdca_optimizer sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features, example_weights, example_labels, sparse_indices, sparse_weights, dense_weights, example_state_data, loss_type, l1, l2, num_loss_partitions, num_inner_iterations, adaptative=True
sdca_shrink_l1 weights, l1, l2
""",
)
