"""tf.test.Benchmark: times of sessions' runs, printed as TensorFlow prints them."""

import inspect
import statistics
import time


def benchmark_config():
    """A ConfigProto for benchmarks: what nobody reads is not taken out of the graph."""
    from weft._src.proto import ConfigProto, RewriterConfig

    config = ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = RewriterConfig.OFF
    return config


def create_local_cluster(num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None):
    """(workers, parameter servers) of a cluster in this process."""
    import socket

    import weft as tf

    held = [socket.create_server(("localhost", 0)) for _ in range(num_workers + num_ps)]
    ports = [f"localhost:{s.getsockname()[1]}" for s in held]
    for s in held:
        s.close()
    cluster = tf.train.ClusterSpec({"worker": ports[:num_workers], "ps": ports[num_workers:]})

    def servers(job, count, config):
        return [
            tf.distribute.Server(cluster, job_name=job, task_index=i, protocol=protocol, config=config, start=True)
            for i in range(count)
        ]

    return servers("worker", num_workers, worker_config), servers("ps", num_ps, ps_config)


def _line(name, value):
    if isinstance(value, str):
        return f'{name}: "{value}"'
    return f"{name}: {int(value) if float(value).is_integer() else value}"


def _entry(name, numbers, extras, metrics):
    """A BenchmarkEntry in text form."""
    lines = [_line("name", name)] + [_line(k, v) for k, v in numbers.items() if v is not None]
    for key, value in (extras or {}).items():
        kind = "double_value" if isinstance(value, (int, float)) else "string_value"
        value = value if kind == "double_value" else str(value)
        lines += ["extras {", "  " + _line("key", key), "  value {", "    " + _line(kind, value), "  }", "}"]
    for metric in metrics or []:
        lines += ["metrics {", "  " + _line("name", metric["name"]), "  " + _line("value", metric["value"])]
        for bound in ("min_value", "max_value"):
            if bound in metric:
                lines += [f"  {bound} {{", "    " + _line("value", metric[bound]), "  }"]
        lines.append("}")
    return "entry {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


class Benchmark:
    """The base of benchmarks: methods that begin with `benchmark` measure and report."""

    @classmethod
    def is_abstract(cls):
        return cls is Benchmark

    def report_benchmark(
        self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None, metrics=None
    ):
        """Prints an entry of results."""
        outermost = [f for f in inspect.stack(0) if isinstance(f.frame.f_locals.get("self"), Benchmark)][-1]
        full = f"{type(outermost.frame.f_locals['self']).__name__}.{name or outermost.function}"
        numbers = dict(iters=iters, cpu_time=cpu_time, wall_time=wall_time, throughput=throughput)
        print(_entry(full, numbers, extras, metrics))

    def evaluate(self, tensors):
        """The values as numpy arrays."""
        from weft._src.framework import nest

        return nest.map_structure(lambda t: t.numpy() if hasattr(t, "numpy") else t, tensors)

    def run_op_benchmark(
        self,
        sess,
        op_or_tensor,
        feed_dict=None,
        burn_iters=2,
        min_iters=10,
        store_trace=False,
        store_memory_usage=True,
        name=None,
        extras=None,
        mbs=0,
    ):
        """Times runs of an op in a session and reports their median; what was reported is the result."""
        if store_trace:
            raise NotImplementedError("run_op_benchmark(store_trace=True): sessions give no traces")
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.time()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.time() - start)
        median = statistics.median(times) if times else -1
        values = dict(iters=min_iters, wall_time=median, extras=extras or {}, name=name, throughput=mbs / median)
        self.report_benchmark(**values)
        mean = statistics.fmean(times) if times else -1
        deviation = statistics.stdev(times) if len(times) > 1 else -1
        values["extras"] = {**values["extras"], "wall_time_mean": mean, "wall_time_stdev": deviation}
        return values


class ParameterizedBenchmark(type):
    """The class of benchmarks that run once for each of `_benchmark_parameters`: {name or number: arguments}."""

    def __new__(mcs, clsname, base, attrs):
        made = super().__new__(mcs, clsname, base, attrs)
        given = made._benchmark_parameters
        pairs = list(given.items()) if isinstance(given, dict) else [(f"{p[0]}", p[1:]) for p in given]
        for name in [n for n in dir(made) if n.startswith("benchmark")]:
            function = getattr(made, name)
            delattr(made, name)
            for case, arguments in pairs:
                setattr(made, f"{name}__{case}", _with_arguments(function, arguments))
        return made


def _with_arguments(function, arguments):
    return lambda self: function(self, *arguments)
