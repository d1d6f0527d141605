"""Options of saving and loading."""


class SaveOptions:
    """What saving may leave out or add."""

    def __init__(
        self,
        namespace_whitelist=None,
        save_debug_info=False,
        function_aliases=None,
        experimental_debug_stripper=False,
        experimental_io_device=None,
        experimental_variable_policy=None,
        experimental_custom_gradients=True,
        experimental_image_format=False,
        experimental_skip_saver=False,
        experimental_sharding_callback=None,
        extra_tags=None,
    ):
        self.namespace_whitelist = namespace_whitelist  # None: all
        if namespace_whitelist is not None:
            self.namespace_whitelist = [n if isinstance(n, str) else n.decode() for n in namespace_whitelist]
        self.save_debug_info, self.experimental_debug_stripper = save_debug_info, experimental_debug_stripper
        self.function_aliases = function_aliases if function_aliases else {}
        self.experimental_io_device, self.experimental_variable_policy = (
            experimental_io_device,
            experimental_variable_policy,
        )
        self.experimental_custom_gradients, self.experimental_skip_saver = (
            experimental_custom_gradients,
            experimental_skip_saver,
        )
        self.experimental_sharding_callback, self.extra_tags = experimental_sharding_callback, extra_tags
        self.experimental_image_format = experimental_image_format
        if experimental_image_format:
            raise NotImplementedError(
                "SaveOptions(experimental_image_format=True): SavedModels are written as one file"
            )


class LoadOptions:
    """How to load."""

    def __init__(
        self,
        allow_partial_checkpoint=False,
        experimental_io_device=None,
        experimental_skip_checkpoint=False,
        experimental_variable_policy=None,
        experimental_load_function_aliases=False,
        *,
        verify=False,
    ):
        self.allow_partial_checkpoint, self.experimental_io_device = allow_partial_checkpoint, experimental_io_device
        self.experimental_skip_checkpoint, self.experimental_variable_policy = (
            experimental_skip_checkpoint,
            experimental_variable_policy,
        )
        self.experimental_load_function_aliases = experimental_load_function_aliases
        self.verify = verify  # weft's own: the fingerprint and all checksums are compared first
