#include "graph/rewriters.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/log.h"

namespace weft_engine::graph {
namespace {

struct Entry {
  std::string name, device_type;
  Rewriter rewriter;
};

struct Rewriters {
  std::mutex mutex;
  std::vector<Entry> all;
  std::atomic<bool> any{false};
};

Rewriters& rewriters() {
  static auto* r = new Rewriters();
  return *r;
}

}  // namespace

void add_rewriter(std::string name, std::string device_type, Rewriter rewriter) {
  Rewriters& r = rewriters();
  const std::lock_guard lock(r.mutex);
  r.all.push_back({std::move(name), std::move(device_type), std::move(rewriter)});
  r.any.store(true);
}

void run_rewriters(FunctionBody& body, const core::DeviceSet& devices) {
  Rewriters& r = rewriters();
  if (!r.any.load(std::memory_order_acquire)) return;
  std::vector<Entry> all;
  {
    const std::lock_guard lock(r.mutex);
    all = r.all;
  }
  for (const Entry& e : all) {
    const bool wanted = std::any_of(devices.all().begin(), devices.all().end(), [&](const auto& d) { return d->type() == e.device_type; });
    if (!wanted) continue;
    auto better = e.rewriter(body);
    if (better.ok()) body = std::move(better).value();
    else
      core::log(core::LogLevel::kWarning,
                core::cat("The graph optimizer ", e.name, " failed on ", body.name, ", which stays as it was: ", better.status()));
  }
}

}  // namespace weft_engine::graph
