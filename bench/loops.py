#!/usr/bin/env python3
"""What the threads of a step do: its parallel loops, and what N threads would make of them.

    bench/loops.py --weft build/release/src/libtensorflow.so --case lstm/train32 [--threads 1,2,4,8,16] [--ops] [--loops] [--real]

Runs engine_bench with WEFT_LOOPS, by which the library cuts every loop as for N threads but runs its chunks one after the other on one thread, and measures
each. Of the steps of a run the least time of each piece counts, so that the figures hold on a busy machine. The time of a step with N threads
is then what is outside of loops, and for each loop the end of the last chunk when N threads take the chunks in order, and the price of handing work over.
Caches and memory that threads share are not in the figures. --real measures the ops of a step with N threads that run, beside them. --ops adds up by op, --loops by place in the code (addr2line).
"""

import argparse
import collections
import heapq
import os
import statistics
import subprocess
import tempfile

from run import build, golden_models


def fork_ns(threads):
    """The price of a loop that so many threads take part in (fork_join.cc on 16 cores of a Sapphire Rapids)."""
    return 800 + 200 * threads


def record(program, library, models, case, threads, batch, real=False):
    with tempfile.NamedTemporaryFile() as f:
        call = [str(program), library, "-t", str(threads), "-m", str(models), "-c", case, "-b", str(batch), "-s", "30"]
        subprocess.run(
            call,
            check=True,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"WEFT_LOOPS": f.name, "WEFT_LOOPS_REAL": str(int(real))},
        )
        return [line.split() for line in open(f.name)]


def steps(lines):
    """The steps of a run: the longest part of its end that repeats. What repeats inside of a step does not do so for long."""
    names = [(l[0], l[2] if l[0] in ("op", "loop") else "") + ((len(l),) if l[0] == "loop" else ()) for l in lines]
    for p in range(1, len(names) // 3):
        if names[-1 - p] != names[-1] or names[-p:] != names[-2 * p : -p]:
            continue
        out, end = [], len(lines)
        while end >= p and names[end - p : end] == names[-p:]:
            out.append(lines[end - p : end])
            end -= p
        if len(out) * p > len(names) / 3:
            return out
    raise SystemExit("no two steps of the run are alike")


def pieces(step):
    """The step as [(path of ops, nanoseconds outside of loops before this event, chunks of the loop, site, estimate)]."""
    out, stack, now = [], [], None
    for e in step:
        at = float(e[1])
        if e[0] == "back":
            now = at
            continue
        out.append(["/".join(stack), 0 if now is None else at - now, None, None, 0])
        now = at
        if e[0] == "op":
            stack.append(e[2])
        elif e[0] == "end":
            if stack:
                stack.pop()
        else:
            chunks = [float(c) for c in e[4:]]
            out.append(["/".join(stack), 0, chunks, e[2], float(e[3])])
            now = at + sum(chunks)
    return out


def least(all_steps):
    parts = [pieces(s) for s in all_steps]
    best = parts[0]
    for other in parts[1:]:
        for a, b in zip(best, other):
            a[1] = min(a[1], b[1])
            if a[2] is not None:
                a[2] = [min(x, y) for x, y in zip(a[2], b[2])]
    return best


def real_times(all_steps):
    """By path of ops: the medians over the steps of the time of each piece, added up."""
    parts = [pieces(s) for s in all_steps]
    by = collections.defaultdict(float)
    for same in zip(*parts):
        by[same[0][0]] += statistics.median(p[1] for p in same)
    return by


def makespan(chunks, threads):
    if threads == 1 or len(chunks) == 1:
        return sum(chunks)
    threads = min(threads, len(chunks))
    fork = fork_ns(threads)
    free = [0.0] + [fork / 2] * (threads - 1)
    heapq.heapify(free)
    for c in chunks:
        heapq.heappush(free, heapq.heappop(free) + c)
    return max(free) + fork / 2


def places(library, sites):
    text = subprocess.run(["addr2line", "-Cfe", library, *sites], capture_output=True, text=True).stdout.splitlines()
    return {
        s: text[2 * i]
        .removeprefix("void ")
        .replace("weft_engine::kernels::", "")
        .replace("(anonymous namespace)::", "")
        .split("(")[0][:50]
        + " "
        + text[2 * i + 1].split("/")[-1]
        if 2 * i < len(text)
        else s
        for i, s in enumerate(sites)
    }


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--weft", required=True)
    a.add_argument("--case", required=True, action="append")
    a.add_argument("--batch", type=int, default=32)
    a.add_argument("--threads", default="1,2,4,8,16")
    a.add_argument("--ops", action="store_true")
    a.add_argument("--loops", action="store_true")
    a.add_argument(
        "--real",
        action="store_true",
        help="also with threads that run: the median of each op's times, needs as many cores",
    )
    args = a.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program, models = build(folder), golden_models(folder)
        for case in args.case:
            for threads in map(int, args.threads.split(",")):
                step = least(steps(record(program, args.weft, models, case, threads, args.batch)))
                outside, loops = sum(p[1] for p in step), [p for p in step if p[2]]
                inside = sum(makespan(p[2], threads) for p in loops)
                print(
                    f"{case} {threads} threads: {(outside + inside) / 1e3:.0f} us, outside of loops {outside / 1e3:.0f}, "
                    f"{len(loops)} loops of {sum(map(lambda p: sum(p[2]), loops)) / 1e3:.0f} take {inside / 1e3:.0f}",
                    flush=True,
                )
                measured = {}
                if args.real:
                    measured = real_times(
                        steps(record(program, args.weft, models, case, threads, args.batch, real=True))
                    )
                    print(f"  measured: {sum(measured.values()) / 1e3:.0f} us in ops and between them")
                if args.ops:
                    by = collections.defaultdict(lambda: [0, 0.0, 0.0, 0.0])
                    for path, before, chunks, _, _ in step:
                        row = by[path]
                        row[1] += before
                        if chunks:
                            row[0] += 1
                            row[2] += sum(chunks)
                            row[3] += makespan(chunks, threads)
                    print(
                        f"  {'loops':>5} {'outside':>8} {'inside':>8} {'threads':>8}" + f" {'measured':>8}" * args.real
                    )
                    for path, r in sorted(by.items(), key=lambda i: -i[1][1] - i[1][3])[:25]:
                        print(
                            f"  {r[0]:5} {r[1] / 1e3:8.1f} {r[2] / 1e3:8.1f} {r[3] / 1e3:8.1f}"
                            + f" {measured.get(path, 0) / 1e3:8.1f}" * args.real
                            + f" {'/'.join(path.split('/')[-2:])}"
                        )
                if args.loops:
                    by = collections.defaultdict(lambda: [0, 0, 0.0, 0.0, 0.0, 0.0])
                    for path, _, chunks, site, estimate in loops:
                        row = by[site, path.split("/")[-1]]
                        row[0] += 1
                        row[1] += len(chunks)
                        row[2] += estimate
                        row[3] += sum(chunks)
                        row[4] += makespan(chunks, threads)
                        row[5] += max(chunks)
                    names = places(args.weft, sorted({s for s, _ in by}))
                    print(f"  {'loops':>5} {'chunks':>6} {'estimate':>8} {'measured':>8} {'threads':>8} {'longest':>8}")
                    for (site, op), r in sorted(by.items(), key=lambda i: -i[1][4]):
                        print(
                            f"  {r[0]:5} {r[1]:6} "
                            + " ".join(f"{v / 1e3:8.1f}" for v in r[2:])
                            + f" {op} {names[site]}"
                        )


if __name__ == "__main__":
    main()
