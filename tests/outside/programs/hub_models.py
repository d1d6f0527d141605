"""keras-hub: small models with weights of numpy, called, trained, saved and loaded."""

import os
import tempfile

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import keras_hub
import numpy as np


def known_weights(model, seed, least=-1.0):
    random = np.random.RandomState(seed)
    model.set_weights([np.maximum(random.randn(*w.shape) * 0.1, least).astype(w.dtype) for w in model.get_weights()])
    return model


def short(values):
    return np.round(np.asarray(values, dtype="float64").ravel()[:6], 3).tolist()


tokens = {
    "token_ids": np.arange(12).reshape(2, 6) % 9,
    "segment_ids": np.zeros((2, 6), "int32"),
    "padding_mask": np.array([[1] * 6, [1] * 4 + [0] * 2]),
}
bert = keras_hub.models.BertBackbone(
    vocabulary_size=10, num_layers=2, num_heads=2, hidden_dim=8, intermediate_dim=16, max_sequence_length=6, dropout=0.0
)
known_weights(bert, 0)
out = bert(tokens)
print("bert", bert.count_params(), {k: (v.shape, short(v)) for k, v in sorted(out.items())})

classifier = keras_hub.models.BertTextClassifier(backbone=bert, num_classes=3, dropout=0.0, preprocessor=None)
known_weights(classifier, 1)
classifier.compile(
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    optimizer=keras.optimizers.Adam(0.01),
    jit_compile=False,
)
history = classifier.fit(tokens, np.array([0, 2]), epochs=4, verbose=0, shuffle=False)
print("fit", np.round(history.history["loss"], 3).tolist())
print("predict", short(classifier.predict(tokens, verbose=0)))
path = os.path.join(tempfile.mkdtemp(), "classifier.keras")
classifier.save(path)
print("loaded", short(keras.models.load_model(path).predict(tokens, verbose=0)))

gpt = keras_hub.models.GPT2Backbone(
    vocabulary_size=11, num_layers=2, num_heads=2, hidden_dim=8, intermediate_dim=16, max_sequence_length=8, dropout=0.0
)
causal = known_weights(keras_hub.models.GPT2CausalLM(backbone=gpt, preprocessor=None), 2)
causal.compile(sampler="greedy")
prompt = {"token_ids": np.array([[1, 2, 3, 0, 0, 0, 0, 0]]), "padding_mask": np.array([[1, 1, 1, 0, 0, 0, 0, 0]])}
print(
    "generate",
    {k: np.asarray(v).astype(int).tolist() for k, v in sorted(causal.generate(prompt, stop_token_ids=None).items())},
)
causal.compile(sampler=keras_hub.samplers.BeamSampler(num_beams=2))
print("beams", np.asarray(causal.generate(prompt, stop_token_ids=None)["token_ids"]).tolist())

resnet = keras_hub.models.ResNetBackbone(
    input_conv_filters=[64], input_conv_kernel_sizes=[3], stackwise_num_filters=[64, 64], stackwise_num_blocks=[1, 1],
    stackwise_num_strides=[1, 2], block_type="basic_block", image_shape=(16, 16, 3),
)  # fmt: skip
known_weights(resnet, 3, least=0.01)  # variances among them
picture = np.linspace(-1, 1, 2 * 16 * 16 * 3, dtype="float32").reshape(2, 16, 16, 3)
print("resnet", resnet.output_shape, short(resnet.predict(picture, verbose=0)))

table = keras_hub.layers.ReversibleEmbedding(5, 4)
table.build(())
table.set_weights([np.linspace(0, 1, 20, dtype="float32").reshape(5, 4)])
print("embedding", short(table(np.array([1, 4]))), short(table(np.ones((1, 4), "float32"), reverse=True)))
encoder = keras_hub.layers.TransformerEncoder(intermediate_dim=8, num_heads=2, dropout=0.0)
encoder.build((1, 3, 4))
known_weights(encoder, 5)
print(
    "encoder",
    short(encoder(np.linspace(0, 1, 12, dtype="float32").reshape(1, 3, 4), padding_mask=np.array([[1, 1, 0]]))),
)
