// SPDX-License-Identifier: Apache-2.0
//
// LOG, VLOG and CHECK. What TensorFlow ends the process for is an exception here, which makes the op that runs fail: a kernel's mistake is an error of
// the program that calls it, not its end.
#ifndef TENSORFLOW_CORE_PLATFORM_LOGGING_H_
#define TENSORFLOW_CORE_PLATFORM_LOGGING_H_

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tensorflow/core/platform/macros.h"
#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {

inline constexpr int INFO = 0;
inline constexpr int WARNING = 1;
inline constexpr int ERROR = 2;
inline constexpr int FATAL = 3;
inline constexpr int NUM_SEVERITIES = 4;

namespace internal {

class CheckFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class LogMessage {
 public:
  LogMessage(const char* file, int line, int severity) : file_(file), line_(line), severity_(severity) {}
  ~LogMessage() {
    const std::string text = stream_.str();
    weft_log(severity_, {file_, std::char_traits<char>::length(file_)}, line_, {text.data(), text.size()});
  }
  std::ostream& stream() { return stream_; }

 private:
  const char* file_;
  int line_, severity_;
  std::ostringstream stream_;
};

class LogMessageFatal {
 public:
  LogMessageFatal(const char*, int) {}
  LogMessageFatal(const char*, int, const std::string& text) { stream_ << text; }
  ~LogMessageFatal() noexcept(false) {
    if (std::uncaught_exceptions() == 0) throw CheckFailure(stream_.str());
  }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

struct LogNothing {
  template <class T>
  LogNothing& operator<<(const T&) {
    return *this;
  }
  LogNothing& operator<<(std::ostream& (*)(std::ostream&)) { return *this; }
};
struct Voidify {
  template <class T>
  void operator&(const T&) {}
};

constexpr bool IsPowerOf2(unsigned long n) { return (n & (n - 1)) == 0; }  // NOLINT
// Whether so many seconds passed since it was last true.
inline bool Passed(std::atomic<double>& last, double seconds) {
  const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  double then = last.load();
  return (then == 0 || now - then >= seconds) && last.compare_exchange_strong(then, now);
}

template <class A, class B, class Compare>
std::unique_ptr<std::string> CheckOp(const A& a, const B& b, const char* text, Compare compare) {
  if (TF_PREDICT_TRUE(compare(a, b))) return nullptr;
  std::ostringstream s;
  s << "Check failed: " << text << " (";
  if constexpr (std::is_enum_v<A>) s << static_cast<int64>(a);
  else s << a;
  s << " vs. ";
  if constexpr (std::is_enum_v<B>) s << static_cast<int64>(b);
  else s << b;
  s << ") ";
  return std::make_unique<std::string>(s.str());
}

template <class T>
T CheckNotNull(const char* file, int line, const char* text, T&& pointer) {
  if (pointer == nullptr) LogMessageFatal(file, line, text);
  return std::forward<T>(pointer);
}

}  // namespace internal
}  // namespace tensorflow

#define WEFT_LOG_INFO ::tensorflow::internal::LogMessage(__FILE__, __LINE__, ::tensorflow::INFO).stream()
#define WEFT_LOG_WARNING ::tensorflow::internal::LogMessage(__FILE__, __LINE__, ::tensorflow::WARNING).stream()
#define WEFT_LOG_ERROR ::tensorflow::internal::LogMessage(__FILE__, __LINE__, ::tensorflow::ERROR).stream()
#define WEFT_LOG_FATAL ::tensorflow::internal::LogMessageFatal(__FILE__, __LINE__).stream()
#define WEFT_LOG_QFATAL WEFT_LOG_FATAL

// A program that has other macros of these names before it includes this header keeps them.
#ifndef LOG
#define LOG(severity) WEFT_LOG_##severity
#endif
#ifndef VLOG
#define VLOG_IS_ON(level) ((level) <= 0)
#define VLOG(level) !VLOG_IS_ON(level) ? (void)0 : ::tensorflow::internal::Voidify() & LOG(INFO)
#define DVLOG VLOG
#endif
#ifndef LOG_FIRST_N
#define LOG_FIRST_N(severity, n)                               \
  for (bool weft_log_ =                                        \
           [] {                                                \
             static ::std::atomic<long> count{0}; /* NOLINT */ \
             return count.fetch_add(1);                        \
           }() < (n);                                          \
       weft_log_; weft_log_ = false)                           \
  LOG(severity)
#endif
#ifndef LOG_IF
#define LOG_IF(severity, condition) !(condition) ? (void)0 : ::tensorflow::internal::Voidify() & LOG(severity)
#endif
#ifndef LOG_EVERY_N
#define WEFT_LOG_WHEN(severity, type, wanted)                 \
  for (bool weft_log_ =                                       \
           [&] {                                              \
             static ::std::atomic<type> last{0}; /* NOLINT */ \
             return wanted;                                   \
           }();                                               \
       weft_log_; weft_log_ = false)                          \
  LOG(severity)
#define LOG_EVERY_N(severity, n) WEFT_LOG_WHEN(severity, long, last.fetch_add(1) % (n) == 0)
#define LOG_EVERY_POW_2(severity) WEFT_LOG_WHEN(severity, unsigned long, ::tensorflow::internal::IsPowerOf2(last.fetch_add(1) + 1))
#define LOG_EVERY_N_SEC(severity, seconds) WEFT_LOG_WHEN(severity, double, ::tensorflow::internal::Passed(last, static_cast<double>(seconds)))
#endif
#ifndef CHECK
#define CHECK(condition) \
  while (TF_PREDICT_FALSE(!(condition))) ::tensorflow::internal::LogMessageFatal(__FILE__, __LINE__, "Check failed: " #condition " ").stream()
#define WEFT_CHECK_OP(op, a, b)                                                                                                             \
  while (auto weft_failed_ = ::tensorflow::internal::CheckOp(a, b, #a " " #op " " #b, [](const auto& x, const auto& y) { return x op y; })) \
  ::tensorflow::internal::LogMessageFatal(__FILE__, __LINE__, *weft_failed_).stream()
#define CHECK_EQ(a, b) WEFT_CHECK_OP(==, a, b)
#define CHECK_NE(a, b) WEFT_CHECK_OP(!=, a, b)
#define CHECK_LT(a, b) WEFT_CHECK_OP(<, a, b)
#define CHECK_LE(a, b) WEFT_CHECK_OP(<=, a, b)
#define CHECK_GT(a, b) WEFT_CHECK_OP(>, a, b)
#define CHECK_GE(a, b) WEFT_CHECK_OP(>=, a, b)
#define CHECK_NOTNULL(p) ::tensorflow::internal::CheckNotNull(__FILE__, __LINE__, "'" #p "' Must be non NULL", (p))
#define QCHECK CHECK
#endif
#ifndef DCHECK
#ifdef NDEBUG
#define WEFT_NO_CHECK(condition) \
  while (false && (condition)) ::tensorflow::internal::LogNothing()
#define DCHECK(condition) WEFT_NO_CHECK(condition)
#define DCHECK_EQ(a, b) WEFT_NO_CHECK((a) == (b))
#define DCHECK_NE(a, b) WEFT_NO_CHECK((a) != (b))
#define DCHECK_LT(a, b) WEFT_NO_CHECK((a) < (b))
#define DCHECK_LE(a, b) WEFT_NO_CHECK((a) <= (b))
#define DCHECK_GT(a, b) WEFT_NO_CHECK((a) > (b))
#define DCHECK_GE(a, b) WEFT_NO_CHECK((a) >= (b))
#else
#define DCHECK(condition) CHECK(condition)
#define DCHECK_EQ(a, b) CHECK_EQ(a, b)
#define DCHECK_NE(a, b) CHECK_NE(a, b)
#define DCHECK_LT(a, b) CHECK_LT(a, b)
#define DCHECK_LE(a, b) CHECK_LE(a, b)
#define DCHECK_GT(a, b) CHECK_GT(a, b)
#define DCHECK_GE(a, b) CHECK_GE(a, b)
#endif
#endif

#endif  // TENSORFLOW_CORE_PLATFORM_LOGGING_H_
