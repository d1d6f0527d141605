"""tf.device and tf.DeviceSpec: names of devices in part or whole."""

from weft import _weft
from weft._src.framework import device_functions, errors

_FIELDS = ("job", "replica", "task", "device_type", "device_index")


class DeviceSpec:
    """A device's name by its parts, each of which may be open."""

    __slots__ = tuple("_" + name for name in _FIELDS)

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        number = lambda v: None if v is None else int(v)  # noqa: E731
        self._job = None if job is None else str(job)
        self._replica, self._task = number(replica), number(task)
        self._device_type = None if device_type is None else _type(str(device_type))
        self._device_index = number(device_index)

    job = property(lambda self: self._job)
    replica = property(lambda self: self._replica)
    task = property(lambda self: self._task)
    device_type = property(lambda self: self._device_type)
    device_index = property(lambda self: self._device_index)

    @classmethod
    def from_string(cls, spec):
        """The parts of a text such as "/job:worker/task:1/device:CPU:0"."""
        return cls(**_parsed(spec))

    def parse_from_string(self, spec):
        return type(self).from_string(spec)

    def make_merged_spec(self, dev):
        """dev's parts where it has them, else this one's."""
        return type(self)(**self._merged(dev))

    def _merged(self, dev):
        return {name: getattr(dev, name) if getattr(dev, name) is not None else getattr(self, name) for name in _FIELDS}

    def replace(self, **kwargs):
        """The same with other parts."""
        return type(self)(**{**{name: getattr(self, name) for name in _FIELDS}, **kwargs})

    def to_string(self):
        text = "".join(
            f"/{name}:{value}"
            for name, value in (("job", self.job), ("replica", self.replica), ("task", self.task))
            if value is not None
        )
        if self.device_type is not None:
            text += f"/device:{self.device_type}:{'*' if self.device_index is None else self.device_index}"
        return text

    def __eq__(self, other):
        return isinstance(other, type(self)) and self.to_string() == other.to_string()

    def __hash__(self):
        return hash(self.to_string())

    def __repr__(self):
        return "<DeviceSpec(" + ", ".join(f"{name}={getattr(self, name)}" for name in _FIELDS) + ")>"


def _settable(name):
    def change(self, value):
        setattr(self, "_" + name, getattr(type(self)(**{name: value}), name))

    return property(getattr(DeviceSpec, name).fget, change)


class DeviceSpecV1(DeviceSpec):
    """tf.compat.v1.DeviceSpec: the parts may be changed."""

    __slots__ = ()
    job, replica, task, device_type, device_index = map(_settable, _FIELDS)

    def parse_from_string(self, spec):
        return self._take(DeviceSpec.from_string(spec))

    def merge_from(self, dev):
        """Takes dev's parts where it has them."""
        self._take(DeviceSpec(**self._merged(dev)))

    def _take(self, other):
        for name in _FIELDS:
            setattr(self, "_" + name, getattr(other, name))
        return self


def canonical_name(device):
    """A device's name, or a DeviceSpec, as text with the parts in their order."""
    if device is None:
        return ""
    return (device if isinstance(device, DeviceSpec) else DeviceSpec.from_string(device)).to_string()


def _type(text):
    return text.upper() if text.lower() in ("cpu", "gpu") else text


def _parsed(spec):
    fields = {}
    for part in (spec or "").split("/"):
        if not part:
            continue
        word, *rest = part.split(":")
        if word in ("job", "replica", "task") and len(rest) == 1:
            fields[word] = rest[0] if word == "job" else int(rest[0])
            continue
        if word == "device" and len(rest) == 2:
            word, rest = rest[0], rest[1:]
        elif word.upper() not in ("CPU", "GPU", "TPU", "TPU_SYSTEM") or len(rest) > 1:
            raise ValueError(f"Unknown attribute '{word}' is encountered while parsing the device spec: '{spec}'.")
        if "device_type" in fields:
            raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {spec}.")
        fields["device_type"] = _type(word)
        if rest and rest[0] != "*":
            fields["device_index"] = int(rest[0])
    return fields


def merged_names(outer, inner):
    """The inner name's parts where it has them, else the outer's."""
    return DeviceSpec.from_string(outer).make_merged_spec(DeviceSpec.from_string(inner)).to_string()


class _Device:
    """One use of tf.device; may be entered more than once."""

    def __init__(self, name):
        self._name = name
        self._before = []

    def __enter__(self):
        if not _weft.in_graph():
            _weft.use_devices()
        before = _weft.scoped_device()
        name = self._name
        if name is None:
            now = ""
        else:
            text = name.to_string() if isinstance(name, DeviceSpec) else name
            if not isinstance(text, str):
                raise ValueError(f"Expecting a string device name. Got {type(name)}({name})")
            spec = DeviceSpec.from_string(text)
            now = merged_names(before, text) if before else spec.to_string()
            if not _weft.in_graph() and spec.job not in (None, "localhost"):
                full = DeviceSpec("localhost", 0, 0, "CPU", 0).make_merged_spec(spec).to_string()
                if not any(full == known for known, _, _ in _weft.devices()):
                    error = errors.InvalidArgumentError(None, None, f"{full} unknown device.")
                    error._notes = {"sender": full.rpartition("/device:")[0], "task_lost": ""}
                    raise error
        self._before.append(before)
        _weft.set_device(now)

    def __exit__(self, *error):
        _weft.set_device(self._before.pop())


def device(device_name):
    """Ops of the block run on this device."""
    if callable(device_name) and not isinstance(device_name, (str, DeviceSpec)):
        raise RuntimeError("tf.device does not support functions.")
    if device_name is None and device_functions.active() and _weft.in_graph():
        return device_functions.nowhere()
    return _Device(device_name)


def device_v1(device_name_or_function):
    """The same; in a graph it may be a function that gives each op its device."""
    if not callable(device_name_or_function) or isinstance(device_name_or_function, (str, DeviceSpec)):
        return device(device_name_or_function)
    if not _weft.in_graph():
        raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
    return device_functions.by_function(device_name_or_function)
