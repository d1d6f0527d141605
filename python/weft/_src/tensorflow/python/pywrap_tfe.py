"""Calls of the eager engine. tf-keras asks for pluggable devices: there are none but those that are loaded."""

from weft._src.framework import errors


def TF_ListPluggablePhysicalDevices():  # noqa: N802 (TensorFlow's name)
    """Devices of plug-ins."""
    from weft._src.framework import config

    return [d.name.encode() for d in config.list_physical_devices() if d.device_type not in ("CPU", "GPU")]


def __getattr__(name):
    if name.startswith(("TFE_", "TF_")):
        raise errors.UnimplementedError(
            None, None, f"tensorflow.python.pywrap_tfe.{name} is not there: weft's engine has other calls"
        )
    raise AttributeError(name)
