#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <thread>

#include "cli/commands.h"
#include "cli/text.h"
#include "cli/value.h"

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;
double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double total = 0, resident = 0;
  in >> total >> resident;
  return resident * double(sysconf(_SC_PAGESIZE));
}

double peak_bytes() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  return double(r.ru_maxrss) * 1024;
}

void progress(double part, int64_t runs) {
  constexpr int kWidth = 40;
  const int done = int(std::clamp(part, 0.0, 1.0) * kWidth);
  std::string bar(size_t(done), '#');
  bar.resize(kWidth, '.');
  std::cerr << "\r[" << bar << "] " << runs << " runs" << std::flush;
}

double percentile(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return 0;
  const double at = p * double(sorted.size() - 1);
  const size_t i = size_t(at);
  const double f = at - double(i);
  return i + 1 < sorted.size() ? sorted[i] * (1 - f) + sorted[i + 1] * f : sorted[i];
}

}  // namespace

int bench(const BenchArgs& args) {
  const double before = resident_bytes();
  auto start = Clock::now();
  const Model model = load_model(args.load);
  const double load_time = seconds(Clock::now() - start);
  const double loaded = resident_bytes();
  const Signature signature = model[choose_signature(model, args.signature)];
  const NamedTensors inputs = make_inputs(signature.info(), args.inputs, args.cast, true, args.batch);
  start = Clock::now();
  signature(inputs);
  const double first = seconds(Clock::now() - start);
  for (int i = 0; i < 3; ++i) signature(inputs);  // shapes that come again get a plan of their own

  const bool terminal = isatty(2) && !args.json;
  std::vector<std::vector<double>> times(static_cast<size_t>(args.clients));
  std::atomic<int64_t> runs{0};
  std::atomic<bool> stop{false};
  std::vector<std::exception_ptr> errors(times.size());
  start = Clock::now();
  std::vector<std::thread> clients;
  for (size_t c = 0; c < times.size(); ++c) {
    clients.emplace_back([&, c] {
      try {
        while (!stop.load(std::memory_order_relaxed)) {
          const auto t = Clock::now();
          signature(inputs);
          times[c].push_back(seconds(Clock::now() - t));
          runs.fetch_add(1, std::memory_order_relaxed);
        }
      } catch (...) {
        errors[c] = std::current_exception();
        stop = true;
      }
    });
  }
  while (!stop) {
    const double passed = seconds(Clock::now() - start);
    if (passed >= args.duration) break;
    if (terminal) progress(passed / args.duration, runs);
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(0.1, args.duration - passed)));
  }
  stop = true;
  for (auto& t : clients) t.join();
  const double wall = seconds(Clock::now() - start);
  if (terminal) std::cerr << "\r" << std::string(70, ' ') << "\r";
  for (const auto& e : errors) {
    if (e) std::rethrow_exception(e);
  }
  std::vector<double> all;
  for (const auto& t : times) all.insert(all.end(), t.begin(), t.end());
  std::sort(all.begin(), all.end());
  double mean = 0;
  for (const double t : all) mean += t / double(all.size());
  // Rows of the first input that has any.
  int64_t rows = 1;
  for (const auto& [name, t] : inputs) {
    if (t.rank() > 0) {
      rows = t.shape()[0];
      break;
    }
  }
  const double rate = double(all.size()) / wall, peak = peak_bytes(), now = resident_bytes();
  const std::pair<const char*, double> marks[] = {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}};
  if (args.json) {
    Json j;
    j.begin_object()
        .key("path")
        .value(args.load.path)
        .key("signature")
        .value(signature.info().name)
        .key("runs")
        .value(int64_t(all.size()))
        .key("clients")
        .value(args.clients);
    j.key("rows").value(rows).key("load_s").value(load_time).key("first_run_s").value(first).key("latency_s").begin_object();
    j.key("mean").value(mean).key("min").value(all.empty() ? 0 : all.front());
    for (const auto& [name, p] : marks) j.key(name).value(percentile(all, p));
    j.key("max").value(all.empty() ? 0 : all.back()).end_object().key("runs_per_s").value(rate).key("rows_per_s").value(rate * double(rows));
    j.key("memory_bytes")
        .begin_object()
        .key("loaded")
        .value(loaded - before)
        .key("resident")
        .value(now)
        .key("peak")
        .value(peak)
        .end_object()
        .end_object();
    std::cout << j.str();
    return 0;
  }
  std::cout << args.load.path << ", " << signature.info().name << ", " << rows << (rows == 1 ? " row" : " rows") << " a run, " << args.clients
            << (args.clients == 1 ? " client\n" : " clients\n");
  std::cout << "  load        " << human_time(load_time) << ", first run " << human_time(first) << "\n";
  std::cout << "  latency     mean " << human_time(mean) << "   min " << human_time(all.empty() ? 0 : all.front());
  for (const auto& [name, p] : marks) std::cout << "   " << name << " " << human_time(percentile(all, p));
  std::cout << "   max " << human_time(all.empty() ? 0 : all.back()) << "\n";
  char text[128];
  std::snprintf(text, sizeof text, "  throughput  %.1f runs/s, %.1f rows/s (%zu runs in %.2f s)\n", rate, rate * double(rows), all.size(), wall);
  std::cout << text;
  std::cout << "  memory      " << human_bytes(now) << " resident, " << human_bytes(peak) << " at its peak, " << human_bytes(loaded - before)
            << " by loading\n";
  return 0;
}

}  // namespace weft::cli
