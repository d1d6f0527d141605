"""tf.feature_column through tf.compat.v1.feature_column.input_layer. Expected values are TensorFlow's."""

import pytest
import weft as tf

v1 = tf.compat.v1
fc = v1.feature_column
FEATURES = {
    "age": [[3.0], [45.0], [70.0]],
    "kind": [[0], [2], [1]],
    "color": [["red"], ["blue"], ["purple"]],
    "weight": [[0.5], [1.0], [2.0]],
}
AGE = fc.numeric_column("age")
KIND = fc.categorical_column_with_identity("kind", num_buckets=3)
COLOR = fc.categorical_column_with_vocabulary_list("color", ["red", "blue", "green"])


@pytest.mark.parametrize(
    "column, expected",
    [
        (AGE, [[3], [45], [70]]),
        (fc.bucketized_column(AGE, [10, 50]), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        (fc.indicator_column(KIND), [[1, 0, 0], [0, 0, 1], [0, 1, 0]]),
        (fc.indicator_column(COLOR), [[1, 0, 0], [0, 1, 0], [0, 0, 0]]),
        (
            fc.indicator_column(fc.categorical_column_with_vocabulary_list("color", ["red"], num_oov_buckets=2)),
            [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
        ),
        (
            fc.indicator_column(fc.categorical_column_with_hash_bucket("color", 4)),
            [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]],
        ),
        (fc.embedding_column(KIND, 2, initializer=v1.constant_initializer(0.5)), [[0.5, 0.5]] * 3),
        (fc.indicator_column(fc.weighted_categorical_column(COLOR, "weight")), [[0.5, 0, 0], [0, 1, 0], [0, 0, 0]]),
        (
            fc.indicator_column(fc.crossed_column(["kind", "color"], 5)),
            [[1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 1]],
        ),
    ],
)
def test_columns(column, expected):
    with tf.Graph().as_default():
        layer = fc.input_layer({k: tf.constant(v) for k, v in FEATURES.items()}, [column])
        with v1.Session() as sess:
            sess.run([v1.global_variables_initializer(), v1.tables_initializer()])
            assert sess.run(layer).tolist() == expected


def test_specs_and_refusals():
    spec = tf.feature_column.make_parse_example_spec([AGE, fc.indicator_column(KIND)])
    assert spec == {"age": tf.io.FixedLenFeature((1,), tf.float32), "kind": tf.io.VarLenFeature(tf.int64)}
    assert str(AGE) == "NumericColumn(key='age', shape=(1,), default_value=None, dtype=tf.float32, normalizer_fn=None)"
    with pytest.raises(ValueError, match="boundaries must be a sorted list."):
        fc.bucketized_column(AGE, [5, 1])
    with pytest.raises(ValueError, match=r"vocabulary_list \[\] must be non-empty, column_name: c"):
        fc.categorical_column_with_vocabulary_list("c", [])
