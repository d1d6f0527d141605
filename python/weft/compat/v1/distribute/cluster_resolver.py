"""tf.compat.v1.distribute.cluster_resolver: as in version 2."""

from weft.distribute.cluster_resolver import (  # noqa: F401
    ClusterResolver,
    GCEClusterResolver,
    KubernetesClusterResolver,
    KubernetesExecutableLocation,
    SimpleClusterResolver,
    SlurmClusterResolver,
    TFConfigClusterResolver,
    TPUClusterResolver,
    UnionResolver,
    __getattr__,
)
