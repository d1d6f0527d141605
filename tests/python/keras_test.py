"""Programs that use Keras print under weft what they print under TensorFlow (keras/NAME.out, see programs/record.py)."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import program_runner as programs
import pytest

if not programs.has_keras():
    pytest.skip("the package keras is not installed", allow_module_level=True)
NAMES = sorted(p.stem for p in (pathlib.Path(__file__).parent / "keras").glob("*.py"))


@pytest.fixture(scope="module")
def outcomes(request):
    """Futures of what programs.check says of each program; one runs on each core at a time."""
    before = programs.FOLDER, programs.RELATIVE, programs.ABSOLUTE
    programs.use_keras()
    chosen = [i.callspec.params["name"] for i in request.session.items if i.name.startswith("test_a_keras_program")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {name: pool.submit(programs.check, name, 120) for name in chosen}
        pool.shutdown(cancel_futures=True)
    programs.FOLDER, programs.RELATIVE, programs.ABSOLUTE = before


@pytest.mark.parametrize("name", NAMES)
def test_a_keras_program_prints_what_it_prints_under_tensorflow(name, outcomes):
    lines = outcomes[name].result()
    assert not lines, "\n".join(lines)


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**programs.environment(), **environment},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_tf_keras_is_the_package_and_is_loaded_when_first_used():
    code = """
import sys
import weft as tf
print('keras' in sys.modules, 'tensorflow' in sys.modules)
layer = tf.keras.layers.Dense(2, kernel_initializer='ones')
print(layer(tf.ones([1, 3])).numpy(), sys.modules['tensorflow'] is tf)
import keras, weft.keras.layers
from tensorflow.keras.layers import Dense
from weft.keras import layers
print(tf.keras.Model is keras.Model, Dense is layers.Dense is weft.keras.layers.Dense is keras.layers.Dense)
print(keras.backend.backend(), tf.keras.__version__ == keras.__version__)
"""
    assert run(code) == ["False False", "[[3. 3.]] True", "True True", "tensorflow True"]


def test_without_the_package_tf_keras_says_what_to_install(tmp_path):
    code = """
import sys
sys.modules['keras'] = None
import weft as tf
try:
    tf.keras
except ImportError as error:
    print(error)
print(tf.add(1, 2).numpy())
"""
    assert run(code) == ["tf.keras is the package keras, which is not installed here: pip install keras", "3"]


def test_tensorboard_gets_losses_histograms_and_the_graph(tmp_path):
    """TensorFlow needs the package tensorboard for this; the tags are those of Keras's callback."""
    code = f"""
import os
import numpy as np
import weft as tf
from weft import keras
keras.utils.set_random_seed(1)
x = np.ones((16, 3), 'float32')
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
model.compile('sgd', 'mse', metrics=['mae'])
board = keras.callbacks.TensorBoard({str(tmp_path)!r}, histogram_freq=1, update_freq='epoch')
history = model.fit(x, x[:, :2], epochs=2, validation_data=(x, x[:, :2]), verbose=0, callbacks=[board])
for folder in ('train', 'validation'):
    found = {{}}
    path = os.path.join({str(tmp_path)!r}, folder)
    for name in sorted(os.listdir(path)):
        for record in tf.data.TFRecordDataset(os.path.join(path, name)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, tf.make_ndarray(value.tensor)))
    print(folder, sorted(found))
    name, ours = ('epoch_loss', 'loss') if folder == 'train' else ('epoch_loss', 'val_loss')
    print([step for step, _ in found[name]], np.allclose([v for _, v in found[name]], history.history[ours]))
"""
    lines = run(code)
    assert (
        lines[0].startswith("train [")
        and "epoch_loss" in lines[0]
        and "epoch_mae" in lines[0]
        and "kernel/histogram" in lines[0]
    )
    assert lines[1] == lines[3] == "[0, 1] True"
    assert (
        lines[2]
        == "validation ['epoch_loss', 'epoch_mae', 'evaluation_loss_vs_iterations', 'evaluation_mae_vs_iterations']"
    )
