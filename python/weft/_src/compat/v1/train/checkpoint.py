"""tf.compat.v1.train.Checkpoint: as that of version 2, with sessions as arguments; files of checkpoints."""

from weft._src.trackable import checkpoint, checkpoint_files


class Checkpoint(checkpoint.Checkpoint):
    """Saves and restores objects and all that they hold."""

    def __init__(self, **kwargs):
        super().__init__(None, **kwargs)

    def write(self, file_prefix, session=None, options=None):
        """Writes a checkpoint of exactly this name; gives the name."""
        return self._write(file_prefix, options, session=session)

    def save(self, file_prefix, session=None, options=None):
        """Writes a numbered checkpoint and notes it as the latest of its folder; gives its name."""
        return self._save(file_prefix, options, session)

    def restore(self, save_path):
        """Restores what save() wrote; gives a status to ask."""
        status = self._read(save_path)
        self._maybe_create_save_counter()
        if hasattr(status, "add_to_optionally_restored"):
            status.add_to_optionally_restored(self._save_counter)
        return status


def NewCheckpointReader(filepattern):  # noqa: N802: TensorFlow's name
    """A reader of the checkpoint of this name."""
    return checkpoint_files.CheckpointReader(filepattern)


def generate_checkpoint_state_proto(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
):
    """A CheckpointState, with paths as seen from the folder."""
    return checkpoint_files.state_of(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )


def get_checkpoint_mtimes(checkpoint_prefixes):
    """When each checkpoint was written; those that are not there are left out."""
    from weft._src.framework import gfile

    times = []
    for prefix in checkpoint_prefixes:
        for path in (prefix + ".index", prefix):
            if gfile.exists(path):
                times.append(gfile.stat(path).mtime_nsec / 1e9)
                break
    return times


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    """Deletes the files of a checkpoint and its graph."""
    from weft._src.framework import gfile

    checkpoint_files.remove_checkpoint(checkpoint_prefix)
    graph = f"{checkpoint_prefix}.{meta_graph_suffix}"
    if gfile.exists(graph):
        gfile.remove(graph)
