"""tf.__internal__.distribute.combinations: tests that run once for each strategy. They run in one process: those for several, for GPUs that are not there and for
TPUs are skipped and say so."""

from weft._src.internal import combinations as _combinations


class TestEnvironment:
    """What tests are told of where they run."""

    __test__ = False

    def __init__(self):
        self.tf_data_service_dispatcher = None
        self.total_phsyical_gpus = 0


_env = TestEnvironment()


def env():
    """The environment of the tests."""
    return _env


def in_main_process():
    return True


class NamedDistribution:
    """A strategy that is made when a test needs it, with what it requires."""

    def __init__(
        self,
        name,
        distribution_fn,
        required_gpus=None,
        required_physical_gpus=0,
        required_tpu=False,
        use_cloud_tpu=False,
        has_chief=False,
        num_workers=1,
        num_ps=0,
        share_gpu=True,
        pool_runner_fn=None,
        no_xla=False,
    ):
        self._name, self._distribution_fn = name, distribution_fn
        self.required_gpus, self.required_physical_gpus = required_gpus, required_physical_gpus
        self.required_tpu, self.use_cloud_tpu = required_tpu, use_cloud_tpu
        self.has_chief, self.num_workers, self.num_ps = has_chief, num_workers, num_ps
        self.share_gpu, self._pool_runner_fn, self.no_xla = share_gpu, pool_runner_fn, no_xla

    @property
    def runner(self):
        return self._pool_runner_fn() if self._pool_runner_fn is not None else None

    @property
    def strategy(self):
        return self._distribution_fn()

    def __repr__(self):
        return self._name


class DistributionParameter(_combinations.ParameterModifier):
    """Tests get the strategies themselves."""

    def modified_arguments(self, kwargs, requested_parameters):
        return {name: value.strategy for name, value in kwargs.items() if isinstance(value, NamedDistribution)}


class DistributionCombination(_combinations.TestCombination):
    """Runs what this machine has devices for."""

    def should_execute_combination(self, kwargs):
        from weft._src.framework import config

        gpus = len(config.list_physical_devices("GPU"))
        given = [value for value in kwargs.values() if isinstance(value, NamedDistribution)]
        for one in given:
            if one.required_tpu or one.use_cloud_tpu:
                return False, "Test requires a TPU, but it's not available."
            needed = max(one.required_gpus or 0, one.required_physical_gpus)
            if needed > gpus:
                return False, f"Test that requires {needed} physical GPUs, but only {gpus} are available."
            if one.has_chief or one.num_workers > 1 or one.num_ps:
                return False, f"{one} needs several processes, which these combinations do not start."
        return True, None

    def parameter_modifiers(self):
        return [DistributionParameter(), _combinations.OptionalParameter("use_var_policy")]


class NamedGPUCombination(_combinations.TestCombination):
    """required_gpus=number."""

    def should_execute_combination(self, kwargs):
        from weft._src.framework import config

        needed = kwargs.get("required_gpus") or kwargs.get("required_physical_gpus") or 0
        gpus = len(config.list_physical_devices("GPU"))
        if needed > gpus:
            return False, f"Test that requires {needed} physical GPUs, but only {gpus} are available."
        return True, None

    def parameter_modifiers(self):
        return [_combinations.OptionalParameter(n) for n in ("required_gpus", "required_physical_gpus")]


class NamedTPUCombination(_combinations.TestCombination):
    """required_tpus=number."""

    def should_execute_combination(self, kwargs):
        if kwargs.get("required_tpus") or kwargs.get("required_tpu") or kwargs.get("use_cloud_tpu"):
            return False, "Test requires a TPU, but it's not available."
        return True, None

    def parameter_modifiers(self):
        return [_combinations.OptionalParameter(n) for n in ("required_tpus", "required_tpu", "use_cloud_tpu")]


def generate(combinations, test_combinations=()):
    """The decorated test method or class, once for each combination."""
    known = (DistributionCombination(), NamedGPUCombination(), NamedTPUCombination())
    return _combinations.generate(
        combinations, test_combinations=(*_combinations.DEFAULT_COMBINATIONS, *known, *test_combinations)
    )


# ---- strategies -----------------------------------------------------------------------------------------


def _strategy(name, *args):
    def make():
        import weft

        found = weft.distribute
        for part in name.split("."):
            found = getattr(found, part)
        return found(*args)

    return make


def _default():
    from weft._src.distribute.context import get_strategy

    return get_strategy()


def _refused(name):
    def make():
        from weft._src.framework import errors

        raise errors.UnimplementedError(
            None, None, f"{name} needs what these tests do not have: TPUs or several processes"
        )

    return make


default_strategy = NamedDistribution("Default", _default)
one_device_strategy = NamedDistribution("OneDeviceCPU", _strategy("OneDeviceStrategy", "/cpu:0"))
one_device_strategy_gpu = NamedDistribution("OneDeviceGPU", _strategy("OneDeviceStrategy", "/gpu:0"), required_gpus=1)
mirrored_strategy_with_one_cpu = NamedDistribution("Mirrored1CPU", _strategy("MirroredStrategy", ["/cpu:0"]))
mirrored_strategy_with_one_gpu = NamedDistribution(
    "Mirrored1GPU", _strategy("MirroredStrategy", ["/gpu:0"]), required_gpus=1
)
mirrored_strategy_with_gpu_and_cpu = NamedDistribution(
    "MirroredCPUAndGPU", _strategy("MirroredStrategy", ["/gpu:0", "/cpu:0"]), required_gpus=1
)
mirrored_strategy_with_two_cpus = NamedDistribution(
    "Mirrored2CPUs", _strategy("MirroredStrategy", ["/cpu:0", "/cpu:1"]), required_gpus=0
)
mirrored_strategy_with_two_gpus = NamedDistribution(
    "Mirrored2GPUs", _strategy("MirroredStrategy", ["/gpu:0", "/gpu:1"]), required_gpus=2
)
mirrored_strategy_with_two_gpus_no_merge_call = NamedDistribution(
    "Mirrored2GPUsNoMergeCall", _strategy("MirroredStrategy", ["/gpu:0", "/gpu:1"]), required_physical_gpus=2
)
mirrored_strategy_with_cpu_1_and_2 = NamedDistribution(
    "Mirrored2CPU", _strategy("MirroredStrategy", ["/cpu:1", "/cpu:2"])
)
central_storage_strategy_with_two_gpus = NamedDistribution(
    "CentralStorage2GPUs", _strategy("experimental.CentralStorageStrategy", ["/gpu:0", "/gpu:1"]), required_gpus=2
)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution(
    "CentralStorageCPUAndGPU", _strategy("experimental.CentralStorageStrategy", ["/gpu:0", "/cpu:0"]), required_gpus=1
)


def _several(name, **needs):
    return NamedDistribution(name, _refused(name), has_chief=True, **needs)


multi_worker_mirrored_2x1_cpu = _several("MultiWorkerMirrored2x1CPU", no_xla=True)
multi_worker_mirrored_2x1_gpu = _several("MultiWorkerMirrored2x1GPU", required_gpus=1, share_gpu=False)
multi_worker_mirrored_2x1_gpu_noshare = _several("MultiWorkerMirrored2x1GPUNoShare", required_gpus=1, share_gpu=False)
multi_worker_mirrored_2x2_gpu = _several("MultiWorkerMirrored2x2GPU", required_gpus=2, no_xla=True)
multi_worker_mirrored_2x2_gpu_no_merge_call = _several(
    "MultiWorkerMirrored2x2GPUNoMergeCall", required_physical_gpus=2, no_xla=True
)
parameter_server_strategy_3worker_2ps_cpu = _several(
    "ParameterServer3Worker2PSCPU", required_gpus=0, num_workers=3, num_ps=2
)
parameter_server_strategy_1worker_2ps_cpu = _several("ParameterServer1Worker2PSCPU", required_gpus=0, num_ps=2)
parameter_server_strategy_3worker_2ps_1gpu = _several(
    "ParameterServer3Worker2PS1GPU", required_gpus=1, num_workers=3, num_ps=2
)
parameter_server_strategy_1worker_2ps_1gpu = _several("ParameterServer1Worker2PS1GPU", required_gpus=1, num_ps=2)
tpu_strategy = NamedDistribution("TPU", _refused("TPU"), required_tpu=True)
tpu_strategy_packed_var = NamedDistribution("TPUPackedVar", _refused("TPUPackedVar"), required_tpu=True)
tpu_strategy_one_core = NamedDistribution("TPUOneCore", _refused("TPUOneCore"), required_tpu=True)
cloud_tpu_strategy = NamedDistribution("CloudTPU", _refused("CloudTPU"), required_tpu=True, use_cloud_tpu=True)
