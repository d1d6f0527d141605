"""TensorBoard's profile plug-in (xprof): its data functions over a profile of tf.profiler.experimental."""

import glob
import json
import os
import tempfile

import tensorflow as tf
from xprof.convert import raw_to_tool_data as tools

folder = tempfile.mkdtemp()


@tf.function
def f(x):
    for _ in range(3):
        x = tf.tanh(tf.matmul(x, x)) * 0.1
    return x


x = tf.ones([100, 100])
f(x)
tf.profiler.experimental.start(folder)
for step in range(5):
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        f(x)
tf.profiler.experimental.stop()
paths = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)
print("files", len(paths), sorted(tools.xspace_to_tool_names(paths)))


def ask(tool):
    data, kind = tools.xspace_to_tool_data(paths, tool, {})
    assert kind == "application/json", kind
    return json.loads(data)


def rows(table):
    names = [column["id"] for column in table["cols"]]
    return [dict(zip(names, [cell and cell.get("v") for cell in row["c"]])) for row in table["rows"]]


stats = rows(ask("framework_op_stats")[0])
# Only the products: what is around them may be one op of several.
products = [row for row in stats if row["type"].endswith("MatMul")]  # TensorFlow fuses them with tanh
print("products", {row["host_or_device"] for row in products}, sum(row["occurrences"] for row in products))
print("took time", all(row["total_self_time"] > 0 for row in products))
steps = rows(ask("input_pipeline_analyzer")[1])
print("steps", [row["stepnum"] for row in steps])
overview = ask("overview_page")
print("overview", len(overview), [sorted(part)[:2] for part in overview][:3])
for tool in ("trace_viewer", "trace_viewer@"):
    events = ask(tool)["traceEvents"]
    names = [event.get("name", "") for event in events]
    print(
        tool,
        "steps",
        sum(name.startswith("train") for name in names),
        "products",
        sum("MatMul" in name for name in names),
    )
    print("   ", sorted({event["args"]["name"] for event in events if event.get("name") == "process_name"}))
print("memory", sorted(ask("memory_profile")))
