"""tf.test.Benchmark: what it reports."""
import tensorflow as tf


class Sums(tf.test.Benchmark):
    def benchmark_reported(self):
        self.report_benchmark(iters=3, wall_time=1.5, extras={"b": "text"}, metrics=[{"name": "m", "value": 2.5, "min_value": 1.0}])

    def benchmark_named(self):
        self.report_benchmark(iters=1, cpu_time=0.25, throughput=2.0, name="other")


sums = Sums()
sums.benchmark_reported()
sums.benchmark_named()
print(tf.test.Benchmark.is_abstract(), Sums.is_abstract())
print(tf.test.benchmark_config())
