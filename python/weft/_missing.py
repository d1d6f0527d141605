"""What public namespaces end in: an error for names that weft does not have."""


def missing(namespace):
    def __getattr__(name):
        raise AttributeError(f"module '{namespace}' has no attribute {name!r} (weft does not have {namespace}.{name})")

    return __getattr__
