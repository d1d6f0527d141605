"""tf.distribute.cluster_resolver: where a cluster is described."""

from weft._src.distribute.cluster_resolver import (  # noqa: F401
    __getattr__,
    ClusterResolver,
    SimpleClusterResolver,
    TFConfigClusterResolver,
    TPUClusterResolver,
    UnionResolver,
)
from weft._src.distribute.platform_resolvers import (  # noqa: F401
    ExecutableLocation as KubernetesExecutableLocation,
    GCEClusterResolver,
    KubernetesClusterResolver,
    OpenMpiClusterResolver,
    SlurmClusterResolver,
)
