"""Moving averages and differences of a series by windows, convolution, cumulative sums."""
import tensorflow as tf

series = tf.constant([3.0, 5.0, 2.0, 8.0, 7.0, 1.0, 4.0, 9.0])
window = 3
framed = tf.signal.frame(series, window, 1)
print(framed)
print("frames", tf.reduce_mean(framed, axis=1).numpy())
kernel = tf.ones([window, 1, 1]) / window
print("conv", tf.nn.conv1d(series[None, :, None], kernel, 1, "VALID")[0, :, 0].numpy())
c = tf.cumsum(tf.concat([[0.0], series], 0))
print("cumsum", ((c[window:] - c[:-window]) / window).numpy())
print("diff", (series[1:] - series[:-1]).numpy())
ema = tf.scan(lambda a, x: 0.8 * a + 0.2 * x, series)
print("ema", ema.numpy())
print("argsort", tf.argsort(series).numpy(), "sorted", tf.sort(series, direction="DESCENDING").numpy())
print("top", tf.math.top_k(series, 3))
normal = (series - tf.reduce_mean(series)) / tf.math.reduce_std(series)
print("normal", normal.numpy(), tf.reduce_mean(normal).numpy() < 1e-6)
print("histogram", tf.histogram_fixed_width(series, [0.0, 10.0], nbins=5).numpy())
print("above mean", tf.where(series > tf.reduce_mean(series))[:, 0].numpy())
