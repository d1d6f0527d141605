"""Objects below a root. tf-keras."""

from weft._src.trackable.graph_view import ObjectGraphView


def list_objects(root_trackable):
    """All objects that a checkpoint of the root would save."""
    return ObjectGraphView(root_trackable).objects()


def gather_initializers(root_trackable):
    """The initializers of the objects below the root, in graphs."""
    found = (getattr(obj, "initializer", None) for obj in list_objects(root_trackable))
    return [op for op in found if op is not None]
