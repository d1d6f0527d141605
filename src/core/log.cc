#include "core/log.h"

#include <cstdio>
#include <cstdlib>

namespace weft::core {

void log(LogLevel level, const std::string& text) {
  static const int least = [] {
    const char* v = std::getenv("WEFT_LOG");
    if (!v) v = std::getenv("TF_CPP_MIN_LOG_LEVEL");
    return v ? std::atoi(v) : 0;
  }();
  if (static_cast<int>(level) < least) return;
  static constexpr char kLetters[] = {'I', 'W', 'E'};
  std::fprintf(stderr, "%c weft: %s\n", kLetters[static_cast<int>(level)], text.c_str());
}

}  // namespace weft::core
