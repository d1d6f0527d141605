// The small out-of-line parts of rendezvous.h, step_resources.h and step_trace.h.
#include <atomic>

#include "core/cat.h"
#include "core/hash64.h"
#include "op/rendezvous.h"
#include "op/step_resources.h"
#include "op/step_trace.h"

namespace weft_engine::op {

std::string rendezvous_key(std::string_view source, uint64_t incarnation, std::string_view destination, std::string_view name, uint64_t frame,
                           int64_t iteration) {
  static const char* digits = "0123456789abcdef";
  std::string hex(16, '0');
  for (int i = 15; i >= 0; --i, incarnation >>= 4) hex[size_t(i)] = digits[incarnation & 15];
  return cat(source, ";", hex, ";", destination, ";", name, ";", frame, ":", iteration);
}

uint64_t frame_id(uint64_t parent, int64_t iteration, std::string_view name) {
  return hash64_combine(parent, hash64_combine(uint64_t(iteration), hash64(name)));
}

std::string step_container(int64_t step_id) { return cat("__per_step_", step_id); }

namespace {
std::atomic<bool> step_had_resource{false};
}

void note_step_resource() { step_had_resource.store(true, std::memory_order_relaxed); }
bool steps_have_resources() { return step_had_resource.load(std::memory_order_relaxed); }

int64_t StepTrace::thread_number() {
  static std::atomic<int64_t> next{0};
  thread_local const int64_t mine = next.fetch_add(1);
  return mine;
}

int64_t StepTrace::wall_offset_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count() - now();
}

}  // namespace weft_engine::op
