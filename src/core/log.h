// Messages for people, on stderr. WEFT_LOG sets what is printed: 0 all, 1 warnings and errors, 2 errors,
// 3 nothing; TF_CPP_MIN_LOG_LEVEL is read where WEFT_LOG is not set, since programs set that one.
#pragma once

#include <string>

namespace weft_engine::core {

enum class LogLevel { kInfo = 0, kWarning = 1, kError = 2 };

void log(LogLevel level, const std::string& text);
// Called with each message that is printed; null for none.
void set_log_listener(void (*listener)(const char*));

}  // namespace weft_engine::core
