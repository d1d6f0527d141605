"""v1 feature columns through input_layer: numeric, bucketised, identity, vocabulary, embedding, indicator, weighted."""
import tensorflow as tf

v1 = tf.compat.v1
fc = v1.feature_column
features = {
    "age": [[3.0], [45.0], [70.0]],
    "kind": [[0], [2], [1]],
    "color": [["red"], ["blue"], ["purple"]],
    "weight": [[0.5], [1.0], [2.0]],
}
age = fc.numeric_column("age")
color = fc.categorical_column_with_vocabulary_list("color", ["red", "blue", "green"])
kind = fc.categorical_column_with_identity("kind", num_buckets=3)
columns = {
    "numeric": age,
    "normalised": fc.numeric_column("age", normalizer_fn=lambda x: x / 10.0),
    "buckets": fc.bucketized_column(age, boundaries=[10, 50]),
    "identity": fc.indicator_column(kind),
    "vocabulary": fc.indicator_column(color),
    "oov": fc.indicator_column(fc.categorical_column_with_vocabulary_list("color", ["red"], num_oov_buckets=2)),
    "hashed": fc.indicator_column(fc.categorical_column_with_hash_bucket("color", 4)),
    "embedding": fc.embedding_column(kind, dimension=2, initializer=v1.constant_initializer(0.5)),
    "weighted": fc.indicator_column(fc.weighted_categorical_column(color, "weight")),
    "crossed": fc.indicator_column(fc.crossed_column(["kind", "color"], 5)),
}
for name, column in columns.items():
    with tf.Graph().as_default():
        inputs = {k: tf.constant(v) for k, v in features.items()}
        layer = fc.input_layer(inputs, [column])
        with v1.Session() as sess:
            sess.run([v1.global_variables_initializer(), v1.tables_initializer()])
            print(name, layer.shape[1], sess.run(layer).tolist())
print(age)
print(sorted(fc.make_parse_example_spec([age, columns["identity"]]).items()))
try:
    fc.bucketized_column(age, boundaries=[5, 1])
except ValueError as e:
    print(e)
try:
    fc.categorical_column_with_vocabulary_list("c", [])
except ValueError as e:
    print(e)
