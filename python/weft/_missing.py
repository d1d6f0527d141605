"""What public namespaces end in: TensorFlow's error for names that are not there."""


def missing(namespace):
    module = namespace.replace("tf.", "tensorflow._api.v2.", 1)

    def __getattr__(name):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return __getattr__
