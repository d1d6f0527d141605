"""Kills (SIGKILL) a process at a random moment while it saves, from C++ and from Python: models, checkpoints in one file, in parts, on a thread,
files, datasets. Each time what is there must load and belong together, and the next save must leave nothing but whole files.

The long form: kills_attack.py --attempts 200"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import support

SCRIPT = r"""
import os, sys
import numpy as np
import weft as tf

mode, folder = sys.argv[1:]
SIZES = (1, 1000, 100000)


class Values(tf.Module):
    def __init__(self):
        self.step = tf.Variable(0, dtype=tf.int64)
        self.parts = [tf.Variable(tf.zeros([n])) for n in SIZES]

    @tf.function(input_signature=[tf.TensorSpec([1])])
    def call(self, x):
        return x + self.parts[0]

    def advance(self):
        self.step.assign_add(1)
        for p in self.parts:
            p.assign_add(tf.ones_like(p))


def check(step, parts, where):
    for p in parts:
        if not np.all(p.numpy() == float(step.numpy())):
            sys.exit(f"FAILED: {where} holds values of two saves")


def check_checkpoint(prefix):
    if not os.path.exists(prefix + ".index"):
        return
    v = Values()
    tf.train.Checkpoint(values=v).read(prefix).expect_partial().assert_existing_objects_matched()
    check(v.step, v.parts, prefix)


def load_all():
    model = os.path.join(folder, "model")
    if os.path.exists(os.path.join(model, "saved_model.pb")):
        m = tf.saved_model.load(model, options=tf.saved_model.LoadOptions(verify=True))
        check(m.step, m.parts, model)
    for name in ("best", "parts"):
        check_checkpoint(os.path.join(folder, name))
    latest = tf.train.latest_checkpoint(folder)
    if latest:
        check_checkpoint(latest)
    data = os.path.join(folder, "data")
    if os.path.exists(os.path.join(data, "dataset_spec.pb")):
        found = [int(x) for x in tf.data.Dataset.load(data)]
        if found != list(range(100)):
            sys.exit(f"FAILED: {data} has {len(found)} elements")


values = Values()
checkpoint = tf.train.Checkpoint(values=values)
later = tf.train.CheckpointOptions(enable_async=True)
in_parts = tf.train.CheckpointOptions(experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy(100_000))
manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2, checkpoint_name="ckpt")


def save_all():
    values.advance()
    tf.saved_model.save(values, os.path.join(folder, "model"))
    checkpoint.write(os.path.join(folder, "best"))
    checkpoint.write(os.path.join(folder, "parts"), options=in_parts)
    manager.save(options=later if int(values.step) % 2 else None)
    tf.io.write_file(os.path.join(folder, "text"), str(int(values.step)))
    tf.data.Dataset.range(100).save(os.path.join(folder, "data"))


if mode == "check":
    load_all()
    checkpoint.restore(manager.latest_checkpoint)
    for _ in range(2):
        save_all()
    checkpoint.sync()
    print("good")
else:
    checkpoint.restore(manager.latest_checkpoint)
    print("ready", flush=True)
    while True:
        save_all()
"""


def left_over(folder):
    """Names that no whole save has, relative to the folder."""
    bad, bundles = [], {}
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            inside = os.path.relpath(os.path.join(where, name), folder)
            if "tempstate" in name or name.endswith("_temp") or re.search(r"\.tmp|\.weft", name):
                bad.append(inside)
            found = re.fullmatch(r"(.*)(\.index|\.data-(\d{5})-of-(\d{5}))", inside)
            if found:
                bundles.setdefault(found[1], set()).add(found[2])
            elif where == folder and name not in ("model", "checkpoint", "text", "data", "mine"):
                bad.append(inside)
    for prefix, parts in bundles.items():
        counts = {p[-5:] for p in parts if p != ".index"}
        if ".index" not in parts or len(counts) != 1 or len(parts) - 1 != int(counts.pop()):
            bad.append(prefix + str(sorted(parts)))
    data = os.path.join(folder, "data")
    if os.path.isdir(data):
        bad += [
            "data/" + n for n in os.listdir(data) if not re.fullmatch(r"\d+|snapshot\.metadata|dataset_spec\.pb", n)
        ]
    return bad


def attack(random, build):
    language = random.choice(["python", "c++"])
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "saver.py")
        with open(script, "w") as f:
            f.write(SCRIPT)
        place = os.path.join(folder, "saves")
        os.mkdir(place)
        os.mkdir(os.path.join(place, "model"))
        for mine in ("mine", "model/mine"):
            with open(os.path.join(place, mine), "w") as f:
                f.write("kept")
        program = [sys.executable, script] if language == "python" else [build.program("attack_kills_saver")]
        for _ in range(random.randint(1, 3)):
            child = subprocess.Popen(
                [*program, "save", place],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            line = child.stdout.readline()
            time.sleep(random.expovariate(8))
            os.killpg(child.pid, signal.SIGKILL)
            rest = child.stdout.read()
            child.wait()
            if line.strip() != "ready":
                return f"{language}: the saver said {line + rest}"
            if "FAILED" in rest or "Error" in rest:
                return f"{language}: the saver said {rest[-600:]}"
        outcome = support.child([*program, "check", place], seconds=120)
        problem = outcome.problem()
        if problem or outcome.code or "good" not in outcome.out:
            return f"{language}: {problem or (outcome.out + outcome.err)[-800:]}"
        bad = left_over(place)
        if bad:
            return f"{language}: left over after the next save: {bad}"
        for mine in ("mine", "model/mine"):
            path = os.path.join(place, mine)
            if not os.path.exists(path) or open(path).read() != "kept":
                return f"{language}: {mine}, which is not the saver's, was removed"
    return None


if __name__ == "__main__":
    support.main(__doc__, attack, at_least=2)
