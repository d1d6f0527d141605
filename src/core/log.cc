#include "core/log.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace weft_engine::core {
namespace {
std::atomic<void (*)(const char*)> log_listener{nullptr};
}  // namespace

void set_log_listener(void (*listener)(const char*)) { log_listener.store(listener); }

void log(LogLevel level, const std::string& text) {
  static const int least = [] {
    const char* v = std::getenv("WEFT_LOG");
    if (!v) v = std::getenv("TF_CPP_MIN_LOG_LEVEL");
    return v ? std::atoi(v) : 0;
  }();
  if (static_cast<int>(level) < least) return;
  static constexpr char kLetters[] = {'I', 'W', 'E'};
  std::fprintf(stderr, "%c weft: %s\n", kLetters[static_cast<int>(level)], text.c_str());
  if (auto* listener = log_listener.load()) listener(text.c_str());
}

}  // namespace weft_engine::core
