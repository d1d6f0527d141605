#include "op/held.h"

#include <map>
#include <mutex>

namespace weft_engine::op {
namespace {

struct Holders {
  std::mutex mutex;
  std::map<const FunctionCaller*, std::weak_ptr<const void>> all;
};
Holders& holders() {
  static auto* h = new Holders;
  return *h;
}

}  // namespace

std::shared_ptr<const void> hold(const FunctionCaller& caller) {
  Holders& h = holders();
  std::lock_guard lock(h.mutex);
  auto& weak = h.all[&caller];
  auto strong = weak.lock();
  if (!strong) {
    strong = std::make_shared<char>();
    weak = strong;
  }
  return strong;
}

bool held(const FunctionCaller& caller) {
  Holders& h = holders();
  std::lock_guard lock(h.mutex);
  const auto it = h.all.find(&caller);
  if (it == h.all.end()) return false;
  if (!it->second.expired()) return true;
  h.all.erase(it);
  return false;
}

}  // namespace weft_engine::op
