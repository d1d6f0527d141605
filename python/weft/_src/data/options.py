"""tf.data.Options and its parts."""

import enum


class AutotuneAlgorithm(enum.Enum):
    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutoShardPolicy(enum.IntEnum):
    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Fields:
    """Attributes with fixed names; unset ones are None. Groups are made when first asked for."""

    _fields = {}
    _groups = {}

    def __init__(self):
        object.__setattr__(self, "_set", {})

    def __getattr__(self, name):
        if name in self._groups:
            return self._set.setdefault(name, self._groups[name]())
        if name in self._fields:
            return self._set.get(name)
        raise AttributeError(f"Cannot get the property {name} on {type(self).__name__}.")

    def __setattr__(self, name, value):
        if name in self._fields or name in self._groups:
            kind = self._fields.get(name) or self._groups.get(name)
            if value is not None and kind is not None and not isinstance(value, kind):
                raise TypeError(f'Property "{name}" must be of type {kind}, got: {value} (type: {type(value)})')
            self._set[name] = value
        else:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")

    def __eq__(self, other):
        return type(self) is type(other) and all(
            getattr(self, n) == getattr(other, n) for n in {*self._fields, *self._groups}
        )

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def merged_with(self, other):
        made = type(self)()
        for options in (self, other):
            for name, value in options._set.items():
                if isinstance(value, _Fields):
                    made._set[name] = made._set[name].merged_with(value) if name in made._set else value
                elif value is not None:
                    made._set[name] = value
        return made


class AutotuneOptions(_Fields):
    """How parallelism and buffers are chosen."""

    _fields = {
        "autotune_algorithm": AutotuneAlgorithm,
        "cpu_budget": int,
        "enabled": bool,
        "ram_budget": int,
        "initial_parallelism": int,
        "min_parallelism": int,
    }


class DistributeOptions(_Fields):
    """How a dataset is cut for several workers."""

    _fields = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}


class OptimizationOptions(_Fields):
    """Which rewrites may happen."""

    _fields = dict.fromkeys(
        (
            "apply_default_optimizations filter_fusion filter_parallelization inject_prefetch map_and_batch_fusion map_and_filter_fusion map_fusion "
            "map_parallelization noop_elimination parallel_batch seq_interleave_prefetch shuffle_and_repeat_fusion"
        ).split(),
        bool,
    )


class ServiceOptions(_Fields):
    _fields = {"pinned": bool}


class ThreadingOptions(_Fields):
    """Threads that a dataset uses."""

    _fields = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


class Options(_Fields):
    """What Dataset.with_options takes."""

    _fields = {
        "dataset_name": str,
        "framework_type": list,
        "deterministic": bool,
        "experimental_deterministic": bool,
        "experimental_external_state_policy": ExternalStatePolicy,
        "external_state_policy": ExternalStatePolicy,
        "experimental_slack": bool,
        "experimental_symbolic_checkpoint": bool,
        "experimental_warm_start": bool,
    }
    _groups = {
        "autotune": AutotuneOptions,
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
        "experimental_threading": ThreadingOptions,
        "threading": ThreadingOptions,
    }

    def merge(self, options):
        return self.merged_with(options)
