"""The files of checkpoints: which is the latest of a folder, what one holds."""

import os
import time

from weft import _weft
from weft._src.framework import errors, gfile


class CheckpointReader:
    """The tensors of a checkpoint by name."""

    def __init__(self, filename):
        self._native = _weft.BundleReader(filename)

    def has_tensor(self, tensor_str):
        return self._native.has(_text(tensor_str))

    def get_tensor(self, tensor_str):
        """The value as a numpy array."""
        return self._native.tensors([_text(tensor_str)])[0].numpy()

    def get_variable_to_shape_map(self):
        return {k: list(self._native.shape(k)) for k in self._native.keys()}

    def get_variable_to_dtype_map(self):
        return {k: self._native.dtype(k) for k in self._native.keys()}

    def debug_string(self):
        lines = []
        for k in self._native.keys():
            sizes = ",".join(str(d) for d in self._native.shape(k))
            lines.append(f"{k} (DT_{_proto_name(self._native.dtype(k))}) [{sizes}]\n")
        return "".join(lines).encode()


def _text(name):
    return name.decode() if isinstance(name, bytes) else name


def _proto_name(dtype):
    return {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}.get(dtype.name, dtype.name.upper())


def checkpoint_exists(checkpoint_prefix):
    return gfile.exists(f"{checkpoint_prefix}.index") or gfile.exists(checkpoint_prefix)


def _state_file(folder, latest_filename=None):
    return os.path.join(folder, latest_filename or "checkpoint")


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of a folder, with whole paths; None where there is none."""
    from weft._src.proto import CheckpointState, text_format

    folder = os.fspath(checkpoint_dir)
    path = _state_file(folder, latest_filename)
    try:
        text = gfile.read_bytes(path).decode()
    except errors.OpError:
        return None
    state = CheckpointState()
    text_format.Parse(text, state)
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {folder}")
    if not _is_absolute(state.model_checkpoint_path):
        state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    paths = [p if _is_absolute(p) else os.path.join(folder, p) for p in state.all_model_checkpoint_paths]
    del state.all_model_checkpoint_paths[:]
    state.all_model_checkpoint_paths.extend(paths)
    return state


def _is_absolute(path):
    return os.path.isabs(path) or "://" in path


def _relative(path, folder):
    """Beside the state file a name is enough: the folder may move."""
    if ("://" in folder) != ("://" in path):
        return path
    if _is_absolute(folder) == _is_absolute(path) or not _is_absolute(path):
        return os.path.relpath(path, folder) if _is_absolute(path) or os.path.dirname(path) else path
    return path


def state_of(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
):
    """The CheckpointState of a folder, with paths as seen from there."""
    from weft._src.proto import CheckpointState

    paths = list(all_model_checkpoint_paths or [])
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    state = CheckpointState(model_checkpoint_path=_relative(model_checkpoint_path, save_dir))
    state.all_model_checkpoint_paths.extend(_relative(p, save_dir) for p in paths)
    if all_model_checkpoint_timestamps:
        state.all_model_checkpoint_timestamps.extend(all_model_checkpoint_timestamps)
    if last_preserved_timestamp is not None:
        state.last_preserved_timestamp = last_preserved_timestamp
    return state


def update_checkpoint_state(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    latest_filename=None,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
):
    """Writes the state file of a folder, in one move."""
    update_checkpoint_state_internal(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        latest_filename,
        False,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )


def update_checkpoint_state_internal(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths=None,
    latest_filename=None,
    save_relative_paths=False,
    all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
):
    """tf.__internal__.train.update_checkpoint_state; paths below the folder are relative in any case."""
    from weft._src.proto import text_format

    state = state_of(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    _weft.replace_file(_state_file(save_dir, latest_filename), text_format.MessageToString(state).encode())


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The path of the newest checkpoint of a folder, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is not None and state.model_checkpoint_path and checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    return None


def _prefix(ckpt_dir_or_file):
    path = os.fspath(ckpt_dir_or_file)
    if gfile.isdir(path):
        found = latest_checkpoint(path)
        if found is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
        return found
    return path


def load_checkpoint(ckpt_dir_or_file):
    """A reader of a checkpoint, or of the latest of a folder."""
    return CheckpointReader(_prefix(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file, name):
    """One value of a checkpoint, as a numpy array."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name[:-2] if name.endswith(":0") else name)


def list_variables(ckpt_dir_or_file):
    """[(name, shape)], sorted."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None):
    stop = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            return path
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Yields each new checkpoint of a folder as it appears."""
    path = None
    while True:
        path = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if path is None:
            if not timeout_fn or timeout_fn():
                return
            continue
        start = time.time()
        yield path
        rest = start + min_interval_secs - time.time()
        if rest > 0:
            time.sleep(rest)


def remove_checkpoint(prefix):
    """Deletes the files of a checkpoint."""
    _weft.remove_checkpoint(prefix)
    if gfile.exists(prefix + ".index"):
        raise errors.PermissionDeniedError(None, None, f"{prefix}.index; it could not be deleted")
