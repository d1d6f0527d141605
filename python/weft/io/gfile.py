"""tf.io.gfile: files and folders of any file system that the engine knows."""

from weft._src.framework.gfile import (  # noqa: F401
    GFile,
    copy,
    exists,
    get_registered_schemes,
    glob,
    isdir,
    join,
    listdir,
    makedirs,
    mkdir,
    remove,
    rename,
    rmtree,
    stat,
    walk,
)
