#include "core/profilers.h"

#include <mutex>
#include <vector>

#include "core/log.h"

namespace weft_engine::core {
namespace {

struct Profilers {
  struct Entry {
    std::string name;
    std::unique_ptr<Profiler> profiler;
    bool running = false;
  };
  std::mutex mutex;
  std::vector<Entry> all;
};

Profilers& profilers() {
  static auto* p = new Profilers();
  return *p;
}

bool told(const Profilers::Entry& e, const Status& s) {
  if (!s.ok()) log(LogLevel::kWarning, cat("The profiler ", e.name, " failed: ", s));
  return s.ok();
}

}  // namespace

void add_profiler(std::string name, std::unique_ptr<Profiler> profiler) {
  Profilers& p = profilers();
  const std::lock_guard lock(p.mutex);
  p.all.push_back({std::move(name), std::move(profiler)});
}

void start_profilers() {
  Profilers& p = profilers();
  const std::lock_guard lock(p.mutex);
  for (auto& e : p.all) e.running = told(e, e.profiler->start());
}

std::string stop_profilers() {
  Profilers& p = profilers();
  const std::lock_guard lock(p.mutex);
  std::string out;  // messages one behind the other are one message with the fields of all
  for (auto& e : p.all) {
    if (!e.running) continue;
    e.running = false;
    if (!told(e, e.profiler->stop())) continue;
    auto seen = e.profiler->collect();
    if (told(e, seen.status())) out += *seen;
  }
  return out;
}

}  // namespace weft_engine::core
