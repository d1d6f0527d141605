"""tf.distribute.DistributedDataset and DistributedIterator: what programs test distributed input against."""

import collections.abc


class DistributedIteratorInterface(collections.abc.Iterator):
    """An iterator whose elements are one for each replica."""

    def get_next(self):
        """The next element for each replica."""
        raise NotImplementedError("DistributedIterator.get_next() must be implemented in descendants.")

    @property
    def element_spec(self):
        """The TypeSpec of an element."""
        raise NotImplementedError("DistributedIterator.element_spec() must be implemented in descendants")

    def get_next_as_optional(self):
        """The next element for each replica, or none, in a tf.experimental.Optional."""
        raise NotImplementedError("get_next_as_optional() not implemented in descendants")


class DistributedDatasetInterface(collections.abc.Iterable):
    """A dataset whose elements are one for each replica."""

    def __iter__(self):
        raise NotImplementedError("Must be implemented in descendants")

    @property
    def element_spec(self):
        """The TypeSpec of an element."""
        raise NotImplementedError("DistributedDataset.element_spec must be implemented in descendants.")

    def reduce(self, initial_state, reduce_func):
        raise NotImplementedError("DistributedDataset.reduce must be implemented in descendants.")
