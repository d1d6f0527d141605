#include "core/threads.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "core/interrupt.h"

namespace weft_engine::core {

const Status& out_of_memory() {
  static const Status* status = new Status(Code::kResourceExhausted, "out of memory");
  return *status;
}

Status interrupted_call() { return cancelled("interrupted"); }

Status status_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const Interrupted&) {
    return interrupted_call();
  } catch (const std::exception& e) {
    try {
      return internal_error("unexpected exception: ", e.what());
    } catch (...) {
      return out_of_memory();
    }
  } catch (...) {
    try {
      return internal_error("unexpected exception");
    } catch (...) {
      return out_of_memory();
    }
  }
}

Status start_thread(std::function<void()> body) noexcept {
  try {
    std::thread(std::move(body)).detach();
    return {};
  } catch (const std::system_error& e) {
    try {
      return resource_exhausted("the system gives no thread: ", e.what());
    } catch (...) {
      return out_of_memory();
    }
  } catch (...) {
    return status_of_exception();
  }
}

namespace {

// Processors' worth of time that control groups grant (version 2, then 1), the least of all groups above this process; 0: no limit.
double cpu_quota() {
  double least = 0;
  const auto limit = [&least](double quota, double period) {
    if (quota > 0 && period > 0) least = least > 0 ? std::min(least, quota / period) : quota / period;
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/a/b", or "4:cpu,cpuacct:/a/b"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool v2 = controllers.empty();
    if (!v2 && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    std::string path = line.substr(second + 1);
    for (;;) {
      const std::string folder = (v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu") + (path == "/" ? std::string() : path);
      double quota = 0, period = 0;
      if (v2) {
        if (std::ifstream f(folder + "/cpu.max"); f >> quota >> period) limit(quota, period);  // "max" is no number
      } else {
        std::ifstream q(folder + "/cpu.cfs_quota_us"), p(folder + "/cpu.cfs_period_us");
        if (q >> quota && p >> period) limit(quota, period);
      }
      const size_t slash = path.rfind('/');
      if (path == "/" || slash == path.npos) break;
      path.resize(slash);
    }
  }
  return least;
}

}  // namespace

int available_cpus() {
  static const int count = [] {
    int n = int(std::thread::hardware_concurrency());
    cpu_set_t set;
    if (sched_getaffinity(getpid(), sizeof set, &set) == 0) n = CPU_COUNT(&set);
    n = std::max(n, 1);
    const double quota = cpu_quota();
    return quota > 0 ? std::clamp(int(std::ceil(quota)), 1, n) : n;
  }();
  return count;
}

int default_threads(bool inter) {
  if (const char* text = std::getenv(inter ? "TF_NUM_INTEROP_THREADS" : "TF_NUM_INTRAOP_THREADS")) {
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    if (end != text && !*end && n > 0) return int(std::min<long>(n, 1024));
  }
  return available_cpus();
}

}  // namespace weft_engine::core
