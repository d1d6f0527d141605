"""tf.compat.v1.train.Checkpoint: as that of version 2, with sessions as arguments."""

from weft._src.trackable import checkpoint


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
