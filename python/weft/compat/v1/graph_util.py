"""tf.compat.v1.graph_util: GraphDefs taken apart and frozen."""

from weft._src.compat.v1.graph_util import (  # noqa: F401
    __getattr__,
    convert_variables_to_constants,
    extract_sub_graph,
    import_graph_def,
    must_run_on_cpu,
    remove_training_nodes,
    tensor_shape_from_node_def_name,
)
