"""tf.signal: Fourier transforms, windows, frames, STFT and its inverse, DCT, mel, overlap-and-add, hilbert-free."""
import tensorflow as tf

x = tf.constant([1.0, 2.0, 0.0, -1.0, 1.5, 0.5, -2.0, 3.0])
print(tf.signal.rfft(x))
print(tf.signal.irfft(tf.signal.rfft(x)))
print(tf.signal.fft(tf.cast(x, tf.complex64))[:3], tf.signal.fft2d(tf.cast(tf.reshape(x, [2, 4]), tf.complex64))[0])
print(tf.signal.rfft(x, fft_length=[4]), tf.signal.rfft2d(tf.reshape(x, [2, 4]))[1], tf.signal.fftshift(tf.range(5)),
      tf.signal.ifftshift(tf.range(5)))
print(tf.signal.rfft3d(tf.reshape(x, [2, 2, 2])).shape, tf.signal.ifft(tf.signal.fft(tf.cast(x, tf.complex64))).dtype)
for name in ("hann_window", "hamming_window", "kaiser_window", "vorbis_window", "kaiser_bessel_derived_window"):
    print(name, getattr(tf.signal, name)(8).numpy())
print(tf.signal.frame(x, 4, 2), tf.signal.frame(x[:7], 4, 3, pad_end=True, pad_value=9.0),
      tf.signal.overlap_and_add(tf.ones([3, 4]), 2))
signal = tf.sin(tf.range(64.0) * 0.5)
stft = tf.signal.stft(signal, frame_length=16, frame_step=8, fft_length=16)
print(stft.shape, tf.abs(stft)[0].numpy())
inverse = tf.signal.inverse_stft(stft, 16, 8, 16, window_fn=tf.signal.inverse_stft_window_fn(8))
print(inverse.shape, tf.reduce_max(tf.abs(inverse[16:-16] - signal[16:48])).numpy() < 1e-3)
print(tf.signal.dct(x), tf.signal.dct(x, type=3), tf.signal.idct(tf.signal.dct(x)), tf.signal.dct(x, norm="ortho"),
      tf.signal.dct(x, type=1))
mel = tf.signal.linear_to_mel_weight_matrix(4, 9, 8000, 100.0, 3800.0)
print(mel)
spectrogram = tf.abs(stft)
log_mel = tf.math.log(tf.matmul(spectrogram, mel) + 1e-6)
print(tf.signal.mfccs_from_log_mel_spectrograms(log_mel)[0, :3].shape)
print(tf.signal.mdct(signal, 16).shape, tf.signal.inverse_mdct(tf.signal.mdct(signal, 16)).shape)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(tf.abs(tf.signal.rfft(x)) ** 2)
print(tf.round(tape.gradient(y, x) * 100.0) / 100.0)
print(tf.audio.decode_wav(tf.audio.encode_wav(tf.reshape(x / 4.0, [8, 1]), 8000)))
try:
    tf.signal.fft(x)
except Exception as e:
    print(type(e).__name__, str(e).splitlines()[0])
try:
    tf.signal.dct(x, type=7)
except Exception as e:
    print(type(e).__name__, e)
