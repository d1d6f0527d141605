"""What a Keras that is a package of its own registers with TensorFlow; nothing here asks for it but `functions`."""

functions = {}


def _registers(kind):
    def register(func):
        functions[kind] = func

    register.__name__ = register.__qualname__ = f"register_{kind}_function"
    return register


register_call_context_function = _registers("call_context")
register_clear_session_function = _registers("clear_session")
register_get_session_function = _registers("get_session")
register_load_model_function = _registers("load_model")


def get_call_context_function():
    return functions.get("call_context")


def get_clear_session_function():
    return functions.get("clear_session")


def get_get_session_function():
    return functions.get("get_session")


def get_load_model_function():
    return functions.get("load_model")
