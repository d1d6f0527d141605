"""tf.experimental.StructuredTensor: made of Python values and of fields, looked into, changed, reshaped, in functions."""

import tensorflow as tf
from calls import tell

S = tf.experimental.StructuredTensor
one = S.from_pyval({"x": 1, "y": [2.5, 3.5], "n": {"a": "text"}})
rows = S.from_pyval([{"x": 1, "y": [1, 2]}, {"x": 3, "y": []}, {"x": 5, "y": [6]}])
deep = S.from_pyval([[{"x": 1}, {"x": 2}], [], [{"x": 3}]])
people = S.from_pyval(
    [{"name": "a", "pets": [{"kind": "cat"}, {"kind": "dog"}]}, {"name": "b", "pets": []}, {"name": "c", "pets": [{"kind": "fish"}]}]
)


def pv(value):
    """The Python value, its keys in order."""

    def ordered(v):
        if isinstance(v, dict):
            return {k: ordered(v[k]) for k in sorted(v)}
        return [ordered(e) for e in v] if isinstance(v, list) else v

    return ordered(value.to_pyval())


@tf.function
def inside(s):
    return s.field_value("x") * 2, s


tell(
    """
    one
    rows
    deep
    people
    one.shape
    rows.shape
    deep.shape
    rows.rank
    deep.rank
    rows.nrows()
    one.nrows()
    deep.row_partitions
    rows.row_partitions
    sorted(rows.field_names())
    rows.field_value("x")
    rows.field_value("y")
    deep.field_value("x")
    people.field_value("pets")
    people.field_value(("pets", "kind"))
    rows.field_value("z")
    rows.field_value(("x", "z"))
    rows[0]
    rows[0]["x"]
    rows[1, "y"]
    rows[:, "x"]
    rows[1:]
    rows["x"]
    deep[0]
    deep[0, 1]
    deep[:, :1]
    deep[:, :, "x"]
    people[0, "pets", 1, "kind"]
    people[:, "pets", :, "kind"]
    one["n"]
    one["n", "a"]
    pv(one)
    pv(rows)
    pv(deep)
    pv(people)
    S.from_pyval({})
    S.from_pyval([])
    S.from_pyval([{}, {}])
    S.from_pyval(5)
    S.from_pyval([1, 2])
    S.from_pyval([{"x": 1}, {"z": 2}])
    S.from_pyval([{"x": 1}, 5])
    S.from_pyval([{"x": 1}, {"x": "a"}])
    S.from_fields({"x": [1, 2], "y": [[1, 2], [3, 4]]}, shape=[2])
    S.from_fields({"x": tf.constant([1, 2]), "r": tf.ragged.constant([[1], [2, 3]])}, shape=[2])
    S.from_fields({"x": [1, 2]})
    S.from_fields({"x": [1, 2], "y": [1]}, shape=[None])
    S.from_fields({"x": [1, 2]}, shape=[3])
    S.from_fields({}, shape=[])
    S.from_fields_and_rank({"x": [1, 2]}, rank=1)
    S.from_fields_and_rank({"x": [[1, 2]]}, rank=2).shape
    S.from_fields(5)
    S.from_fields({5: 1})
    rows.with_updates({"z": [7, 8, 9]})
    rows.with_updates({"x": None})
    rows.with_updates({"x": lambda x: x + 1})["x"]
    pv(people.with_updates({("pets", "kind"): lambda k: tf.strings.upper(k)}))
    rows.with_updates({"z": [7]})
    rows.with_updates({"x": lambda x: x, ("x",): None})
    people.promote(("pets", "kind"), "kinds").field_value("kinds")
    deep.merge_dims(0, 1)
    deep.merge_dims(0, 1).field_value("x")
    pv(rows.partition_outer_dimension(tf.experimental.RowPartition.from_row_lengths([2, 1])))
    deep.merge_dims(1, 0)
    inside(rows)[0]
    pv(inside(rows)[1])
    tf.type_spec_from_value(rows) == tf.type_spec_from_value(rows)
    tf.is_tensor(rows)
    len(tf.nest.flatten(rows, expand_composites=True)) > 2
    pv(tf.concat([rows, rows], 0))
    tf.stack([rows, rows]).shape
    pv(tf.gather(rows, [2, 0]))
    tf.expand_dims(rows, 0).shape
    tf.size(deep)
    tf.rank(deep)
    tf.zeros_like(rows)
    tf.ones_like(rows)
    """,
    globals(),
)
