"""Writes user_resource/: a SavedModel of TensorFlow 2.21 with a resource of the program's own, whose contents are saved by _serialize_to_tensors.

python make_user_resource.py
"""

import pathlib
import sys

import tensorflow as tf


class Numbers(tf.saved_model.experimental.TrackableResource):
    """A table from numbers to numbers, as programs write resources."""

    def __init__(self):
        super().__init__()
        self._resource_handle = self._create_resource()

    def _create_resource(self):
        return tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name="numbers")

    def put(self, keys, values):
        keys, values = tf.constant(keys, tf.int64), tf.constant(values, tf.int64)
        tf.raw_ops.LookupTableInsertV2(table_handle=self.resource_handle, keys=keys, values=values)

    def get(self, keys):
        missing = tf.constant(-1, tf.int64)
        return tf.raw_ops.LookupTableFindV2(table_handle=self.resource_handle, keys=keys, default_value=missing)

    def _serialize_to_tensors(self):
        keys, values = tf.raw_ops.LookupTableExportV2(
            table_handle=self.resource_handle, Tkeys=tf.int64, Tvalues=tf.int64
        )
        return {"of-values": values, "all-keys": keys}

    def _restore_from_tensors(self, restored_tensors):
        keys, values = restored_tensors["all-keys"], restored_tensors["of-values"]
        return tf.raw_ops.LookupTableImportV2(table_handle=self.resource_handle, keys=keys, values=values)


class Root(tf.Module):
    def __init__(self):
        super().__init__()
        self.numbers = Numbers()
        self.numbers.put([1, 2, 3], [100, 200, 300])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def get(self, keys):
        return self.numbers.get(keys)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "user_resource"
    tf.saved_model.save(Root(), str(folder))
