"""transformers' TensorFlow models, tiny: forward, fit, save, load."""

import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, GPT2Config, TFBertForSequenceClassification, TFGPT2LMHeadModel


def settle(model):
    """Weights that do not depend on a random generator."""
    rng = np.random.RandomState(0)
    model.set_weights([rng.randn(*w.shape).astype("float32") * 0.1 for w in model.get_weights()])


small = dict(
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    vocab_size=50,
    max_position_embeddings=32,
)
bert = TFBertForSequenceClassification(BertConfig(**small, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
ids = tf.constant([[1, 2, 3, 4], [5, 6, 7, 0]])
mask = tf.constant([[1, 1, 1, 1], [1, 1, 1, 0]])
bert(ids)
settle(bert)
print("bert", bert(ids, attention_mask=mask).logits.numpy().round(3).tolist())
bert.compile(tf_keras.optimizers.SGD(0.1), tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = bert.fit({"input_ids": ids, "attention_mask": mask}, np.array([0, 1]), epochs=3, batch_size=2, verbose=0)
print("fit", np.round(history.history["loss"], 3).tolist())
folder = tempfile.mkdtemp()
before = bert(ids, attention_mask=mask).logits.numpy()
bert.save_pretrained(folder)
again = TFBertForSequenceClassification.from_pretrained(folder)
print(
    "loaded",
    bool(np.allclose(again(ids, attention_mask=mask).logits.numpy(), before, atol=1e-5)),
    sorted(os.listdir(folder)),
)
gpt = TFGPT2LMHeadModel(
    GPT2Config(n_embd=16, n_layer=2, n_head=2, vocab_size=50, n_positions=32, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
)
gpt(ids)
settle(gpt)
print("gpt2", gpt(ids).logits.numpy()[:, -1, :4].round(3).tolist())
print("generate", gpt.generate(ids[:1], max_length=8, do_sample=False, pad_token_id=0).numpy().tolist())
