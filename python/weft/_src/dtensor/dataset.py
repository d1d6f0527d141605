"""DTensorDataset: the batches of a dataset as DTensors."""

from weft._src.framework import nest
from weft._src.raw import raw
from weft._src.data.dataset import Dataset
from weft._src.dtensor import config, tensors
from weft._src.framework.type_spec import TensorSpec


class DTensorDataset(Dataset):
    """Batches of `global_batch_size` elements, laid out; can be iterated, nothing else.

    Each part of the mesh along batch_dim gets a batch of its own, one after another."""

    def __init__(
        self,
        dataset,
        *,
        mesh,
        layouts,
        global_batch_size,
        dataset_already_batched=False,
        batch_dim=None,
        prefetch=None,
        tf_data_service_config=None,
    ):
        if config.num_clients() > 1 or tf_data_service_config is not None:
            raise NotImplementedError("Multi-client DTensorDataset is currently not supported. Check b/271162918.")
        nest.assert_same_structure(dataset.element_spec, layouts)
        flat, specs = nest.flatten(layouts), nest.flatten(dataset.element_spec)
        replicas = 1
        if batch_dim is not None:
            replicas = mesh.dim_size(batch_dim)
            for layout in flat:
                if layout.sharding_specs[0] != batch_dim:
                    raise ValueError(
                        f"batch_dim {batch_dim} was specified but at least one layout did not contain it: {layout}"
                    )
        _check(flat, specs, dataset_already_batched)
        size = global_batch_size // replicas
        if dataset_already_batched:
            if specs[0].shape[0] != size:
                raise ValueError(
                    "per_replica_batch_size does not matched expected size based on the mesh, got "
                    f"{specs[0].shape[0]} but expected {size}."
                )
            batched = dataset
        else:
            batched = dataset.batch(size, drop_remainder=True)
        batches = batched.batch(replicas, drop_remainder=True)
        if prefetch is not None:
            batches = batches.prefetch(prefetch)
        self.num_global_replicas, self._layouts, self._batches = replicas, flat, batches
        self._structure = dataset.element_spec
        specs = [
            TensorSpec([global_batch_size, *s.shape[1:]], s.dtype, s.name) for s in nest.flatten(batched.element_spec)
        ]
        self._set_up(batches._variant_tensor, nest.pack_sequence_as(self._structure, specs), [batches])

    def __iter__(self):
        for batch in self._batches:
            yield nest.pack_sequence_as(self._structure, list(map(_joined, nest.flatten(batch), self._layouts)))


def _joined(value, layout):
    """One batch of the batches of all replicas."""
    shape = value.shape
    whole = raw.Reshape(tensor=value, shape=[shape[0] * shape[1], *shape[2:]])
    return tensors.with_layout(whole, layout, "IteratorGetNext")


def _check(layouts, specs, batched):
    if not specs:
        raise ValueError("Expected input element spec of at least one element, was empty.")
    size = specs[0].shape.as_list()[0] if batched and specs[0].shape.rank else None
    for layout, spec in zip(layouts, specs):
        if spec.shape.rank is None:
            raise ValueError(f"Dataset element shape must have a valid rank, got spec {spec}.")
        expected = spec.shape.rank + (not batched)
        if layout.rank != expected:
            raise ValueError(
                f"Expected layout with rank {expected} for element spec {spec}, got layout {layout.sharding_specs}. "
                "Check that the dataset is not batched before passing to DTensorDataset."
            )
        if not batched:
            continue
        if spec.shape[0] is None:
            raise ValueError(
                f"Size of batch dimension of element spec {spec} is None. Ensure drop_remainder=True when batching the "
                "dataset."
            )
        if spec.shape[0] != size:
            raise ValueError(f"Size of batch dimension of element spec {spec} does not match expected size {size}.")
