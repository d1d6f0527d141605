"""What the drivers in this folder share: their arguments, children with deadlines and limits, and the verdict.

    import support

    def attack(random, build):           # one attempt; a random.Random of its own seed
        return support.child([sys.executable, "-c", script(random)], seconds=10).problem()

    if __name__ == "__main__":
        support.main(__doc__, attack)

The interpreter that runs a driver finds the Python package by PYTHONPATH, and so do its children.
"""

import argparse
import dataclasses
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time


# The sanitizers lay out address space for themselves: it cannot be limited.
SANITIZED = any(name in os.environ.get("LD_PRELOAD", "") for name in ("libasan", "libtsan"))


@dataclasses.dataclass
class Build:
    """A build folder and what is in it."""

    folder: str

    @property
    def weft(self):
        """The command."""
        return os.path.join(self.folder, "src", "cli", "weft")

    def program(self, name):
        """A program of tests/attack/CMakeLists.txt."""
        return os.path.join(self.folder, "tests", "attack", name)


@dataclasses.dataclass
class Outcome:
    """How a child ended. code is negative for a signal, None where it was stopped at its deadline."""

    code: int | None
    out: str
    err: str
    seconds: float
    command: list

    @property
    def died(self):
        return self.code is not None and (self.code < 0 or self.code in (134, 136, 139))

    @property
    def hung(self):
        return self.code is None

    def problem(self):
        """What is wrong with this end, or None: an exit status of any kind is an answer, a signal or a hang is not."""
        if self.hung:
            return f"hang: no end after {self.seconds:.1f} s"
        if self.died:
            return f"death by {signal_name(self.code)}: {self.err.strip()[-600:]}"
        for report in ("AddressSanitizer", "ThreadSanitizer", "runtime error:", "LeakSanitizer"):
            if report in self.err:
                return f"{report}: {self.err.strip()[:2000]}"
        return None


def signal_name(code):
    try:
        return signal.Signals(-code if code < 0 else code - 128).name
    except ValueError:
        return str(code)


def child(command, seconds, input=None, env=None, memory=None, processes=None, cwd=None, interrupt_after=None):
    """Runs command to its end, or kills it and all of its children after `seconds`. memory: bytes of address space;
    interrupt_after: seconds until it gets SIGINT, as Ctrl-C gives it."""

    def limits():
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it, and so would their children
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory and not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if processes:
            resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))

    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            preexec_fn=limits,
        )
        try:
            if interrupt_after is not None:
                try:
                    process.wait(interrupt_after)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGINT)
            process.communicate(input, timeout=max(0.0, seconds - (time.monotonic() - start)))
            code = process.returncode
        except subprocess.TimeoutExpired:
            code = None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    return Outcome(code, *texts, time.monotonic() - start, [str(c) for c in command])


def main(doc, attack, *, at_least=1):
    """Calls attack(random, build) with a seed of its own each time until the seconds are over, at least `at_least` times. An attack
    returns None, or text that says what went wrong and how to see it again; the first lines of it and the seed are printed."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        help="the first attempt's seed; a failure prints the one that repeats it (default 1)",
    )
    parser.add_argument("--seconds", type=float, default=5, help="how long to go on (default 5)")
    parser.add_argument("--attempts", type=int, help="how many attempts, whatever time they take")
    parser.add_argument("--build", default="build/release", help="the build folder (default build/release)")
    options = parser.parse_args()
    build = Build(os.path.abspath(options.build))
    end = time.monotonic() + options.seconds
    failures = attempts = 0
    while (attempts < options.attempts) if options.attempts else (attempts < at_least or time.monotonic() < end):
        seed = options.seed + attempts
        attempts += 1
        problem = attack(random.Random(seed), build)
        if problem:
            failures += 1
            print(f"seed {seed}: {problem}\n  again: {sys.argv[0]} --seed {seed} --attempts 1", flush=True)
            if failures >= 20:
                break
    print(f"{attempts} attempts, {failures} failed")
    sys.exit(1 if failures else 0)
