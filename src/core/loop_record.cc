#include "core/loop_record.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace weft_engine::core {
namespace {

int64_t now() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

thread_local bool inside = false;  // a loop: what it calls is a part of it

}  // namespace

// Everything is kept until the end of the process and written then: one line an event, "op TIME NAME", "end TIME", "loop TIME PLACE ESTIMATE NANOSECONDS ..." with
// the time of each chunk, and "back TIME" behind it.
struct LoopRecord::Events {
  struct Event {
    int64_t at;
    const std::string* op;  // null at the end of an op
    const void* site;  // not null: a loop
    double cost;
    size_t first_time, chunks;
    int64_t back;
  };
  std::string path;
  std::mutex mutex;
  std::vector<Event> events;
  std::vector<int64_t> times;
  std::unordered_set<std::string> ops;

  ~Events() {
    std::FILE* f = std::fopen(path.c_str(), "w");
    if (!f) return;
    for (const Event& e : events) {
      if (!e.site) {
        if (e.op) std::fprintf(f, "op %lld %s\n", (long long)e.at, e.op->c_str());
        else std::fprintf(f, "end %lld\n", (long long)e.at);
        continue;
      }
      Dl_info where{};
      dladdr(e.site, &where);
      std::fprintf(f, "loop %lld %tx %.0f", (long long)e.at, static_cast<const char*>(e.site) - static_cast<const char*>(where.dli_fbase), e.cost);
      for (size_t i = 0; i < e.chunks; ++i) std::fprintf(f, " %lld", (long long)times[e.first_time + i]);
      std::fprintf(f, "\nback %lld\n", (long long)e.back);
    }
    std::fclose(f);
  }
};

LoopRecord* const LoopRecord::record_ = [] {
  const char* path = std::getenv("WEFT_LOOPS");
  if (!path || !*path) return static_cast<LoopRecord*>(nullptr);
  static Events events;
  static LoopRecord record;
  events.path = path;
  record.events_ = &events;
  return &record;
}();

LoopRecord* const LoopRecord::of_loops_ = [] {
  const char* real = std::getenv("WEFT_LOOPS_REAL");
  return real && *real == '1' ? nullptr : record_;
}();

void LoopRecord::loop(int64_t n, double cost, const void* site, FunctionRef<void(int64_t)> body) {
  if (n <= 0) return;
  if (inside) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  struct Inside {
    Inside() { inside = true; }
    ~Inside() { inside = false; }
  };
  std::vector<int64_t> times(static_cast<size_t>(n));
  const int64_t start = now();
  int64_t last = start;
  {
    const Inside here;
    for (int64_t i = 0; i < n; ++i) {
      body(i);
      const int64_t end = now();
      times[size_t(i)] = end - last;
      last = end;
    }
  }
  std::lock_guard lock(events_->mutex);
  const size_t first = events_->times.size();
  events_->times.insert(events_->times.end(), times.begin(), times.end());
  events_->events.push_back({start, nullptr, site, cost, first, size_t(n), 0});
  events_->events.back().back = now();  // what was noted above is no part of the run
}

void LoopRecord::begin_op(std::string_view op) {
  if (inside) return;
  std::lock_guard lock(events_->mutex);
  const std::string* name = &*events_->ops.emplace(op).first;
  events_->events.push_back({now(), name, nullptr, 0, 0, 0, 0});
}

void LoopRecord::end_op() {
  if (inside) return;
  const int64_t at = now();
  std::lock_guard lock(events_->mutex);
  events_->events.push_back({at, nullptr, nullptr, 0, 0, 0, 0});
}

}  // namespace weft_engine::core
