#!/bin/bash
# Everything that needs a GPU, in one go of about four minutes, on a machine with NVIDIA's driver, CUDA's libraries, Python and numpy. Goes on after failures; ends with a report.
#
#   tests/gpu/machine.sh [FOLDER] [PART...]     parts: look agree libraries library_cases fused first steps fit products kernels peers memory cases gradients mutation models kinds two
#
# FOLDER (build/gpu) holds what was built elsewhere (tests/gpu/pack.sh): weft/ (the package with its extension for that Python), site/ (packages it needs), libweft.so.1,
# libweft_jit.so with LLVM inside, play; where it is not there, FOLDER.tar.xz is unpacked. OUT: a folder for the whole logs.
cd "$(dirname "$0")/../.." || exit 1
here=$PWD
folder=$(realpath -m "${1:-build/gpu}")
[ -d "$folder" ] || ${PYTHON:-python3} -c "import tarfile; tarfile.open('$folder.tar.xz').extractall('$(dirname "$folder")')" || exit 1
shift
parts=${*:-look agree libraries library_cases fused first steps fit kernels peers cases gradients mutation models memory two}
out=${OUT:-$here/build/gpu_report}
mkdir -p "$out"
work=$(mktemp -d)
python=${PYTHON:-python3}
# Where the loader does not look: the libraries that come with Python packages.
libraries=$(for name in libcublasLt.so libcudnn.so libcufft.so libcusolver.so libcusparse.so libnvJitLink.so libcublas.so libnccl.so; do
  for d in /usr/local/cuda*/lib64 /usr/local/cuda*/targets/x86_64-linux/lib /usr/lib/x86_64-linux-gnu "$($python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')"/nvidia/*/lib; do
    ls "$d/$name".* >/dev/null 2>&1 && echo "$d" && break
  done
done | sort -u | tr '\n' ':')
export LD_LIBRARY_PATH=$folder:$libraries$LD_LIBRARY_PATH WEFT_JIT_LIBRARY=$folder/libweft_jit.so PYTHONUNBUFFERED=1 TMPDIR=$work
export PYTHONPATH=$folder:$folder/site
processes=$(nproc)
has() { [[ " $parts " == *" $1 "* ]]; }
say() { echo "== $* ($(( $(date +%s) - begin )) s)"; }
begin=$(date +%s)

if has look; then
  say look
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm --format=csv,noheader
  echo "libraries: $libraries"
  $python -c "import ctypes; ctypes.CDLL('$WEFT_JIT_LIBRARY')" || echo "THE COMPILER CANNOT BE LOADED: everything below runs on the host"
  timeout 60 $python - <<'P' 2>&1 | tail -25
import ctypes, time, numpy as np
import weft as tf
print("devices", [d.name for d in tf.config.list_logical_devices()])
before = tf.config.experimental.get_memory_info("GPU:0")["peak"]
print("used", (tf.ones([1000]) + 1).device, tf.config.experimental.get_memory_info("GPU:0")["peak"] - before, "bytes")
r = np.random.default_rng(0)
def check(name, got, want, tolerance):
    e = float(np.abs(np.asarray(got, "d") - want).max() / max(np.abs(want).max(), 1e-30))
    print(f"{name:24} {'ok ' if e <= tolerance else 'BAD'} {e:.1e}")
tf.config.experimental.enable_tensor_float_32_execution(False)
for shape, f, s, pad in (((2, 9, 9, 5), (3, 3, 5, 7), 1, "SAME"), ((2, 8, 8, 8), (3, 3, 8, 16), 2, "SAME"), ((2, 9, 8, 3), (2, 3, 3, 4), 2, "VALID"), ((1, 6, 6, 4), (1, 1, 4, 8), 2, "SAME")):
    x, w = r.standard_normal(shape).astype("f"), r.standard_normal(f).astype("f")
    def run(device):
        with tf.device(device), tf.GradientTape() as t:
            a, b = tf.constant(x), tf.constant(w)
            t.watch((a, b))
            y = tf.nn.conv2d(a, b, s, pad)
            z = tf.reduce_sum(y * y)
        return [v.numpy() for v in (y, *t.gradient(z, (a, b)))]
    try:
        for part, g, c in zip(("conv", "dx", "dw"), run("/device:GPU:0"), run("/device:CPU:0")):
            check(f"{part} {shape} {s} {pad}", g, c, 1e-5)
    except Exception as e:
        print("conv", shape, "failed", str(e)[:300])
for op in (lambda d: tf.nn.max_pool2d(d, 2, 2, "SAME"), tf.nn.softmax, lambda d: tf.sort(d, -1), lambda d: tf.reduce_sum(d, 0)):
    x = tf.constant(r.standard_normal((4, 9, 9, 6)).astype("f"))
    with tf.device("/device:CPU:0"):
        want = op(x).numpy()
    check("op", op(x), want, 1e-5)
P
fi
if has agree; then
  say "convolutions and networks beside the CPU"
  timeout 200 $python tests/gpu/agree.py > "$out/agree.txt" 2>&1
  tail -60 "$out/agree.txt" | cut -c1-200
fi
if has libraries; then
  say "cuFFT, cuSOLVER, cuBLAS beside numpy"
  timeout 150 $python tests/gpu/libraries.py > "$out/libraries.txt" 2>&1
  echo "ended with $?"
  grep -hE "BAD|FAILED|slower than|no error|libraries:|Error" "$out/libraries.txt" | cut -c1-180 | head -30
  grep -hE "u s v|q r - a" "$out/libraries.txt" | awk '{ for (i = 1; i <= NF; ++i) if ($i ~ /^[0-9][0-9.]*(e-?[0-9]+)?$/ && $(i - 1) != "-" && $i + 0 > 1e-3) { print "not orthogonal, or no product:", $0; next } }' | head
  grep -hE "^(FFT|IFFT|RFFT|IRFFT)|(512 x 512|100 x 100) f" "$out/libraries.txt" | cut -c1-80 | head -40
  echo "the same by generated kernels:"
  WEFT_CUFFT_LIBRARY=/none WEFT_CUSOLVER_LIBRARY=/none WEFT_CUBLAS_LIBRARY=/none timeout 100 $python tests/gpu/libraries.py > "$out/libraries_generated.txt" 2>&1
  grep -hE "^(FFT|IRFFT)|(512 x 512|100 x 100) f" "$out/libraries_generated.txt" | cut -c1-80 | head -24
fi
if has fused; then
  say "ways of computing, with each of them and without"
  timeout 150 $python tests/gpu/fused.py > "$out/fused.txt" 2>&1
  tail -30 "$out/fused.txt" | cut -c1-200
fi
if has first; then
  say "first op, three processes"
  for _ in 1 2 3; do timeout 30 $python bench/gpu.py --part first 2>&1 | tail -1; done
fi
if has steps; then
  say "training steps, dispatch, products"
  TF_CPP_MIN_LOG_LEVEL=0 timeout 150 $python bench/gpu.py > "$out/steps.txt" 2> "$out/steps.err"
  cat "$out/steps.txt"
  grep -v "compiled" "$out/steps.err" | cut -c1-300 | sort | uniq -c | sort -rn | head -12
fi
if has fit; then
  say "Keras' fit"
  timeout 60 $python bench/gpu.py --part fit 2>&1 | tail -4 | cut -c1-300
  echo "copies in the order of the work:"
  WEFT_GPU_WITHOUT=overlap timeout 60 $python bench/gpu.py --part fit 2>&1 | tail -2 | cut -c1-300
  echo "batches beside the CPU:"
  timeout 60 $python tests/gpu/overlap.py 2>&1 | tail -4 | cut -c1-200
fi
if has products; then
  # In PyTorch's process without our packages; the rest is weft's, once without cuBLAS.
  say "which way multiplies floats in TF32 fastest"
  env -u PYTHONPATH -u LD_LIBRARY_PATH timeout 110 $python tests/gpu/products.py --rounds 2 2>&1 | tee "$out/products.txt" | cut -c1-160
  timeout 40 $python tests/gpu/products.py --weft 2>&1 | tail -3 | cut -c1-160
  WEFT_GPU_WITHOUT=cublas timeout 40 $python tests/gpu/products.py --weft 2>&1 | tail -2 | cut -c1-160
fi
if has kernels; then
  # The whole lists are in the files.
  say "launches of a step, by kind and the longest"
  for n in gpt4 lstm convnet_bn cnn mlp; do
    timeout 60 $python bench/gpu.py --part kernels --only $n --most 400 > "$out/kernels_$n.txt" 2>&1
    head -$([ $n = gpt4 ] && echo 22 || echo 12) "$out/kernels_$n.txt" | cut -c1-140
  done
  for way in attention cublas; do
    WEFT_GPU_WITHOUT=$way timeout 60 $python bench/gpu.py --part kernels --only gpt4 --most 0 2>&1 | tail -1
    WEFT_GPU_WITHOUT=$way timeout 60 $python bench/gpu.py --only gpt4 2>&1 | tail -1
  done
fi
if has kinds; then
  say "kernels of one step"
  for n in mlp cnn lstm; do
    timeout 60 nsys profile -o "$work/$n" --stats=true $python bench/gpu.py --quick --only $n 2>&1 | grep -A12 "cuda_gpu_kern_sum" | cut -c1-150
  done
fi
if has peers; then
  say "PyTorch and JAX"
  for side in torch jax; do
    env -u PYTHONPATH -u LD_LIBRARY_PATH timeout 100 $python "${PEERS:-$folder/peers.py}" $side 2>/dev/null
  done | tee "$out/peers.txt"
fi

# Not timed: as many processes as there are processors, each with its part of the records, or (mutation) of the files.
play_all() {
  local kind=$1 seconds=$2 pattern=$3 k
  shift 3
  rm -f "$work"/part.*
  for ((k = 0; k < processes; ++k)); do
    local p=$work/part.$k files=($pattern) some=(--part "$k/$processes")
    if [ "$kind" = mutation ]; then
      some=() files=()
      local all=($pattern) i
      for ((i = k; i < ${#all[@]}; i += processes)); do files+=("${all[i]}"); done
    fi
    TF_CPP_MIN_LOG_LEVEL=${PLAY_LOG:-0} NVIDIA_TF32_OVERRIDE=0 timeout "$seconds" "$folder/play" "$kind" "$@" "${some[@]}" "${files[@]}" > "$p.out" 2> "$p.err" ||
      echo "$p ended with $?" >> "$p.out" &
  done
  wait
  cat "$work"/part.*.out > "$out/$kind.txt"
  cat "$work"/part.*.err > "$out/$kind.err"
  grep -h "ended with" "$out/$kind.txt" | head -5
}
if has cases; then
  say "op calls on GPU:0"
  play_all cases 150 "tests/ops/cases/*.bin" --device /device:GPU:0 --known tests/ops/known.txt --fails
  grep -hE "calls of .* ops ran on|cases|agree" "$out/cases.txt" | tail -$((2 * processes)) | cut -c1-150
  echo "runs on the host:"; grep -h "runs on the host" "$out/cases.err" | sed 's/.*weft: //' | cut -c1-110 | sort | uniq -c | sort -rn | head -15
  grep -hiE "lost|illegal|CUDA_ERROR" "$out/cases.txt" "$out/cases.err" | cut -c1-200 | head -5
fi
if has library_cases; then
  say "recorded calls of the ops that libraries do"
  files=$(for o in Cholesky FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D LogMatrixDeterminant MatrixDeterminant MatrixInverse MatrixSolve MatrixTriangularSolve Qr RFFT RFFT2D RFFT3D SelfAdjointEigV2 Svd; do echo "tests/ops/cases/$o.bin"; done)
  TF_CPP_MIN_LOG_LEVEL=0 NVIDIA_TF32_OVERRIDE=0 timeout 120 "$folder/play" cases --device /device:GPU:0 --fails $files > "$out/library_cases.txt" 2> "$out/library_cases.err"
  echo "ended with $?"
  grep -hE "WORSE|calls of .* ops ran on|agree" "$out/library_cases.txt" | cut -c1-200 | head -30
  grep -hE "slower than|has nothing|CUDA_ERROR" "$out/library_cases.err" | sort | uniq -c | cut -c1-250 | head
fi
if has gradients; then
  say gradients
  play_all gradients 100 "tests/gradients/cases/*.bin" --tape --known tests/gradients/known.txt --fails
  grep -hE "WORSE|gradients:" "$out/gradients.txt" | sort | cut -c1-160 | head -60
fi
if has mutation; then
  say "calls that were tampered with"
  PLAY_LOG=3 play_all mutation 120 "tests/ops/cases/*.bin" --device /device:GPU:0 --calls 40
  grep -hE "DIED|internal error|GPU:0:" "$out/mutation.txt" | cut -c1-200 | sort | uniq -c | sort -rn | head -30
  grep -h "^mutation:" "$out/mutation.txt" | awk '{ calls += $2; ops += $5; died += $(NF - 1) } END { print calls " calls of " ops " ops, " died " died" }'
fi
if has models; then
  say "networks, graphs of version 1, programs"
  for archive in models v1 more programs; do
    NVIDIA_TF32_OVERRIDE=0 timeout 100 $python tests/models/saved/play.py "$folder/libweft.so.1" tests/models/saved/$archive.tar.xz > "$out/$archive.txt" 2>&1 &
  done
  wait
  for archive in models v1 more programs; do echo "$archive: $(tail -1 "$out/$archive.txt" | cut -c1-200)"; done
fi
if has memory; then
  say memory
  timeout 90 $python bench/gpu.py --part memory 2>&1 | tail -6 | cut -c1-300
fi
if has two; then
  say "two processes"
  for i in 1 2; do timeout 60 $python bench/gpu.py --quick --only mlp 2>&1 | tail -1 & done
  wait
fi
say done
rm -rf "$work"
