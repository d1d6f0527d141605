"""Feature columns as layers use them: a cache of features, variables and tables that a manager keeps, configurations."""
import tensorflow as tf

fc, private = tf.feature_column, tf.__internal__.feature_column


class Layer(tf.Module):
    """What a state manager asks of a layer."""

    def add_weight(self, name, shape, dtype, initializer, trainable, use_resource, getter=None):
        return tf.Variable(initializer(shape, dtype), trainable=trainable, name=name)

    def _track_trackable(self, value, name, overwrite=False):
        print("tracked", name)
        return super()._track_trackable(value, name, overwrite)


age = fc.numeric_column("age")
kind = fc.categorical_column_with_identity("kind", 3)
color = fc.categorical_column_with_vocabulary_list("color", ["red", "blue"])
buckets = fc.bucketized_column(age, [10.0, 50.0])
columns = [
    age,
    fc.numeric_column("place", shape=(2, 2)),
    buckets,
    fc.indicator_column(kind),
    fc.indicator_column(color),
    fc.indicator_column(fc.weighted_categorical_column(color, "weight")),
    fc.indicator_column(fc.crossed_column([buckets, "color"], 5)),
    fc.indicator_column(fc.categorical_column_with_hash_bucket("color", 4)),
    fc.embedding_column(kind, 2, initializer=tf.compat.v1.ones_initializer()),
]
features = {
    "age": [3.0, 45.0, 70.0],
    "kind": [0, 2, 1],
    "color": [["red"], ["blue"], ["purple"]],
    "weight": [[0.5], [1.0], [2.0]],
    "place": tf.reshape(tf.range(12.0), [3, 2, 2]),
}
layer = Layer()
state = private.StateManager(layer, True)
for column in columns:
    column.create_state(state)
for _ in range(2):
    cache = private.FeatureTransformationCache(features)
    for column in columns:
        dense = column.get_dense_tensor(cache, state)
        print(column.name, column.variable_shape, dense.shape, tf.reshape(dense, [3, -1]).numpy().tolist())
print(state.has_resource(color, "color_lookup"), state.get_variable(columns[-1], "embedding_weights").shape)
print(cache.get("age", state).shape, cache.get("place", state).shape, cache.get("age", state) is cache.get("age", state))
print(cache.get(age, state).shape, cache.get(kind, state).values.numpy())
for column in columns:
    text = private.serialize_feature_column(column)
    print(text)
    again = private.deserialize_feature_column(text)
    print(type(again).__name__, again.name, private.serialize_feature_column(again) == text)
print(private.serialize_feature_column("age"), private.deserialize_feature_column("age"))
wrong = {
    "no variable": lambda: state.get_variable(age, "weights"),
    "no resource": lambda: state.get_resource(age, "table"),
    "twice": lambda: columns[-1].create_state(state),
    "no feature": lambda: cache.get("height", state),
    "scalar": lambda: private.FeatureTransformationCache({"age": 1.0}).get("age", state),
    "no key": lambda: cache.get(3, state),
    "no column": lambda: private.serialize_feature_column(3),
}
for name, call in wrong.items():
    try:
        call()
    except (TypeError, ValueError) as error:
        print(name, type(error).__name__, error)
