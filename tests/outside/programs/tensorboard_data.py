"""TensorBoard's own package reads events, graphs, hparams and profiles of tf.summary, through its HTTP interface."""

import json
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorboard import default, program
from tensorboard.plugins.hparams import api as hp
from werkzeug.test import Client

folder = tempfile.mkdtemp()
writer = tf.summary.create_file_writer(os.path.join(folder, "train"))
with writer.as_default():
    for step in range(3):
        tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
        tf.summary.histogram("weights", tf.constant([0.0, 1.0, 1.0, 2.0, float(step)]), step=step, buckets=4)
    tf.summary.text("note", "a *text*", step=1)
    tf.summary.image("picture", tf.reshape(tf.linspace(0.0, 1.0, 48), [1, 4, 4, 3]), step=2)
    tf.summary.audio("sound", tf.zeros([1, 100, 1]), 8000, step=2)
    hp.hparams({"rate": 0.1, "units": 8}, trial_id="one")

    @tf.function
    def f(x):
        return tf.nn.relu(tf.matmul(x, x)) + 1.0

    tf.summary.trace_on(graph=True)
    f(tf.ones([2, 2]))
    tf.summary.trace_export("traced", step=0)
writer.close()

board = program.TensorBoard(plugins=default.get_plugins())
board.configure(argv=["", "--logdir", folder, "--load_fast", "false", "--reload_interval", "0"])
from tensorboard.backend import application as backend
from tensorboard.backend.event_processing import data_ingester

ingester = data_ingester.LocalDataIngester(board.flags)
ingester._multiplexer.AddRunsFromDirectory(folder, None)
ingester._multiplexer.Reload()
application = backend.TensorBoardWSGIApp(
    board.flags,
    board.plugin_loaders,
    ingester.data_provider,
    board.assets_zip_provider,
    ingester.deprecated_multiplexer,
)
client = Client(application)


def ask(path):
    answer = client.get("/data/" + path)
    return (
        json.loads(answer.data)
        if "json" in answer.content_type
        else (answer.status_code, answer.content_type, len(answer.data) > 0)
    )


print("runs", ask("runs"))
for plugin in ("scalars", "histograms", "images", "audio", "text"):
    print(plugin, json.dumps(ask(f"plugin/{plugin}/tags"), sort_keys=True))
print("scalars", [(step, round(value, 4)) for _, step, value in ask("plugin/scalars/scalars?run=train&tag=loss")])
print(
    "histograms",
    [
        (step, np.round(buckets, 3).tolist())
        for _, step, buckets in ask("plugin/histograms/histograms?run=train&tag=weights")
    ],
)
print("text", [(item["step"], item["text"]) for item in ask("plugin/text/text?run=train&tag=note")])
image = ask("plugin/images/images?run=train&tag=picture&sample=0")[0]
print("images", image["step"], ask("plugin/images/individualImage?" + image["query"]))
print("graphs", json.dumps(ask("plugin/graphs/info"), sort_keys=True))
graph = client.get("/data/plugin/graphs/graph?run=train&tag=traced&conceptual=false")
print("graph", graph.status_code, b"MatMul" in graph.data and b"Relu" in graph.data)
