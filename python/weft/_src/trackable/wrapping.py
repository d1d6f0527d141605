"""Variables of libraries that wrap another variable and hand what they do not know over to it.

TensorFlow's tf.Variable is a class without a value: what only variables with one have (`handle`, `numpy`, ...) is not found there, so that a subclass's
`__getattr__` is asked. Here the class has these names, so a subclass with a `__getattr__` gets them again, as properties that ask it where the object has no
value of its own."""

# What tf.Variable of TensorFlow does not have.
HANDED_OVER = """handle numpy is_initialized create read_value_no_copy scatter_nd_max scatter_nd_min _in_graph_mode _shape_as_list _shape_tuple _unique_id _handle_name
    _outer_handle _all_handles _get_handle _eager_handle _read_variable_op _dense_var_to_tensor _strided_slice_assign _type_spec""".split()


def hand_over(cls, base):
    """Makes a new subclass with a `__getattr__` ask it for what `base` defines beyond TensorFlow's class."""
    if "__getattr__" not in cls.__dict__ or cls.__module__.startswith("weft."):
        return
    for name in HANDED_OVER:
        own = getattr(cls, name, None)
        if own is not None and own is getattr(base, name, None):
            setattr(cls, name, _handed_over(name, own))


def _handed_over(name, own):
    def get(self):
        return own.__get__(self) if self._has_state() else self.__getattr__(name)

    def put(self, value):
        own.__set__(self, value)

    return property(get, put if hasattr(own, "__set__") else None)
