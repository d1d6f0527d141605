"""The graphs of a SavedModel, as the engine reads them (saved_model/meta_graph.h), for loaders that bring a graph into one of Python's."""

import functools
import os

from weft import _weft
from weft._src.framework import gfile
from weft._src.saved_model import constants


class MetaGraph:
    """One graph of a SavedModel: its messages, its signatures, and how its variables are restored and what then runs once."""

    def __init__(self, export_dir, read):
        self._read = read
        folder = os.path.join(export_dir, constants.ASSETS_DIRECTORY)
        self.assets = [(tensor, os.path.join(folder, name)) for tensor, name in read["assets"]]
        self.filename_tensor, self.restore_op, self.init_op = (
            read["filename_tensor"],
            read["restore_op"],
            read["init_op"],
        )
        self.version, self.git_version = read["version"], read["git_version"]
        self.trainable, self.signatures = read["trainable"], read["signatures"]
        prefix = os.path.join(export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        self.variables = prefix if gfile.exists(prefix + ".index") else None  # None: it has none

    @functools.cached_property
    def message(self):
        from weft._src.proto import MetaGraphDef

        return MetaGraphDef.FromString(self._read["message"])

    def graph_def(self):
        from weft._src.proto import GraphDef

        return GraphDef.FromString(self._read["graph_def"])


def read_meta_graphs(export_dir):
    """Gives tag sets, sorted, and a function that makes the graph of a number."""
    from weft._src.saved_model.load import contains_saved_model, missing_file

    if not contains_saved_model(export_dir):
        raise missing_file(export_dir)
    read = _weft.read_meta_graphs(export_dir)
    return [sorted(r["tags"]) for r in read], lambda i: MetaGraph(export_dir, read[i])


def read_meta_graph(export_dir, tags):
    """The graph with exactly these tags."""
    known, graph = read_meta_graphs(export_dir)
    for i, has in enumerate(known):
        if set(has) == set(tags):
            return graph(i)
    raise RuntimeError(
        f"MetaGraphDef associated with tags {str(list(tags)).strip('[]')} could not be found in SavedModel, with available tags '{[set(has) for has in known]}'. To inspect "
        "available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`."
    )
