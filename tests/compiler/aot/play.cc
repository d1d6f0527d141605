// A compiled network and nothing else: links with net.o alone. Predicts, trains five steps, predicts again, writing what it gets; or times itself.
//
//   play run DIR ROWS       DIR/x.bin, y.bin -> DIR/predict.bin, losses.bin, predict_after.bin
//   play bench DIR ROWS     prints "serve US" and "train US": medians
//
// Built with -include net.h and -DOUT=y -DLOSS=loss -DROWS_OPEN=1 (the outputs' names; whether the number of rows is open); -DPARTS: parts of steps
// run on threads of their own.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>
#ifdef PARTS
#include <thread>
#endif

static std::vector<char> read(const std::string& path) {
  std::vector<char> bytes;
  if (FILE* f = std::fopen(path.c_str(), "rb")) {
    char part[4096];
    for (size_t n; (n = std::fread(part, 1, sizeof part, f)) > 0;) bytes.insert(bytes.end(), part, part + n);
    std::fclose(f);
  }
  return bytes;
}

static bool write(const std::string& path, const void* data, size_t n) {
  FILE* f = std::fopen(path.c_str(), "wb");
  const bool ok = f && std::fwrite(data, 1, n, f) == n;
  if (f) std::fclose(f);
  return ok;
}

template <class F>
static double median_us(F step) {
  using Clock = std::chrono::steady_clock;
  auto seconds = [&](int n) {
    const auto start = Clock::now();
    for (int i = 0; i < n; ++i) step();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  for (int i = 0; i < 3; ++i) step();
  const int n = std::max(1, int(0.03 / std::max(seconds(1), 1e-7)));
  std::vector<double> times;
  for (int i = 0; i < 11; ++i) times.push_back(seconds(n) / n * 1e6);
  std::sort(times.begin(), times.end());
  return times[5];
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string mode = argv[1], dir = argv[2];
  [[maybe_unused]] const long rows = std::atol(argv[3]);
  auto net = std::make_unique<Net>();
  auto& serve = net->serving_default;
#ifdef PARTS
  Net::Pool pool;
  static int used = 0;
  pool.parallel_for = [](void*, int64_t n, void (*f)(void*, int64_t, int64_t), void* data) {
    ++used;
    std::vector<std::thread> threads;
    for (int64_t k = 0; k < n; ++k) threads.emplace_back([=] { f(data, k, k + 1); });
    for (std::thread& t : threads) t.join();
  };
  net->set_pool(pool);
#endif
#if ROWS_OPEN
  if (!serve.resize(rows)) return 3;
#endif
  const std::vector<char> x = read(dir + "/x.bin");
  const size_t serve_bytes = size_t(serve.x_size()) * sizeof(*serve.x());
  if (x.size() < serve_bytes) return 4;
  std::memcpy(serve.x(), x.data(), serve_bytes);
  auto predict = [&] {
    if (!serve.run()) {
      std::fprintf(stderr, "serving_default: %s\n", serve.error());
      std::exit(5);
    }
  };
  auto save = [&](const char* name) { return write(dir + "/" + name, serve.OUT(), size_t(serve.OUT_SIZE()) * sizeof(*serve.OUT())); };
#if TRAINS
  auto& train = net->train;
#if ROWS_OPEN
  if (!train.resize(rows)) return 3;
#endif
  const std::vector<char> y = read(dir + "/y.bin");
  std::memcpy(train.x(), x.data(), size_t(train.x_size()) * sizeof(*train.x()));
  std::memcpy(train.y(), y.data(), size_t(train.y_size()) * sizeof(*train.y()));
  auto step = [&] {
    if (!train.run()) {
      std::fprintf(stderr, "train: %s\n", train.error());
      std::exit(6);
    }
  };
#endif
  if (mode == "bench") {
    std::printf("serve %.2f\n", median_us(predict));
#if TRAINS
    std::printf("train %.2f\n", median_us(step));
#endif
    return 0;
  }
  predict();
  if (!save("predict.bin")) return 7;
#if TRAINS
  std::vector<float> losses;
  for (int i = 0; i < 5; ++i) {
    step();
    losses.push_back(*train.LOSS());
  }
  if (!write(dir + "/losses.bin", losses.data(), losses.size() * sizeof(float))) return 7;
  predict();
  if (!save("predict_after.bin")) return 7;
#endif
#ifdef PARTS
  if (used == 0) return 8;
#endif
  return 0;
}
