"""Datasets of ClusterCoordinator.create_per_worker_dataset: each worker has its own, made by a function that runs there."""

from weft import _weft
from weft._src.data.dataset import Dataset, make
from weft._src.data.iterator import IteratorSpec
from weft._src.distribute.input import DistributedDataset, DistributedDatasetsFromFunction, DistributedIteratorSpec
from weft._src.distribute.input import _Distributed
from weft._src.distribute.remote_value import PerWorkerDistributedIterator
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function import Function, function
from weft._src.raw import raw
from weft._src.trackable.variable import variable_creator_scope


def _no_variables(next_creator, **kwargs):
    raise ValueError("Creating variables in `dataset_fn` is not allowed.")


class PerWorkerDataset:
    """A dataset for each worker."""

    def __init__(self, dataset_fn, coordinator):
        if not isinstance(dataset_fn, ConcreteFunction):
            with variable_creator_scope(_no_variables):
                made = dataset_fn if isinstance(dataset_fn, Function) else function(dataset_fn)
                dataset_fn = made.get_concrete_function()
        self._dataset_fn, self._coordinator = dataset_fn, coordinator

    @property
    def element_spec(self):
        """Of an element of one of them."""
        return self._dataset_fn.structured_outputs.element_spec

    def build(self):
        """The datasets themselves."""
        return self._made(self._dataset_fn, self._dataset_fn.structured_outputs._type_spec)

    def __iter__(self):
        if _weft.in_graph():
            raise RuntimeError("__iter__() is not supported inside of tf.function or in graph mode.")
        dataset, make_dataset = self._dataset_fn.structured_outputs, self._dataset_fn
        distributed = isinstance(dataset, _Distributed)
        spec = DistributedIteratorSpec(dataset._facts) if distributed else IteratorSpec(dataset.element_spec)
        made = self._made(lambda: iter(make_dataset()), spec)
        return PerWorkerDistributedIterator(made._values)

    def _made(self, make_one, spec):
        # The workers call it through a plain function: it is made again where a worker is lost.
        made = self._coordinator._create_per_worker_resources(lambda: make_one())
        for value in made._values:
            value._type_spec = spec
        return made


def _sent(dataset):
    """A function that makes a dataset of this process where it runs."""
    graph = raw.DatasetToGraphV2(
        input_dataset=dataset._variant_tensor, external_state_policy=0, strip_device_assignment=True
    )
    return lambda: make("_RemoteDataset", raw.DatasetFromGraph(graph_def=graph), dataset.element_spec)


def per_worker_dataset(given, coordinator):
    """Of a function that makes a dataset, or of a dataset."""
    if isinstance(given, DistributedDatasetsFromFunction):
        return PerWorkerDataset(given._make_one, coordinator)
    if isinstance(given, DistributedDataset):
        return PerWorkerDataset(_sent(given._datasets[0]), coordinator)
    if isinstance(given, Dataset):
        return PerWorkerDataset(_sent(given), coordinator)
    if callable(given):
        return PerWorkerDataset(given, coordinator)
    raise ValueError("Unexpected dataset type!")
