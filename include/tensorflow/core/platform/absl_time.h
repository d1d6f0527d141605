// SPDX-License-Identifier: Apache-2.0
//
// Durations and points in time under abseil's names, for those who have no abseil (absl_forms.h): nanoseconds in 64 bits.
#ifndef TENSORFLOW_CORE_PLATFORM_ABSL_TIME_H_
#define TENSORFLOW_CORE_PLATFORM_ABSL_TIME_H_

#include <chrono>
#include <cstdint>
#include <ostream>
#include <thread>
#include <type_traits>

#include "tensorflow/core/platform/absl_forms.h"

namespace tensorflow {
namespace absl_forms {

class Duration {
 public:
  constexpr Duration() = default;
  constexpr explicit Duration(int64_t ns) : ns_(ns) {}
  constexpr int64_t ns() const { return ns_; }
  // For arithmetic with an N.
  template <class N>
  constexpr std::conditional_t<std::is_integral_v<N>, int64_t, double> As() const {
    return static_cast<std::conditional_t<std::is_integral_v<N>, int64_t, double>>(ns_);
  }
  template <class N>
  static constexpr bool Negative(N n) {
    if constexpr (std::is_integral_v<N>) return n < 0;
    else return __builtin_signbit(n);
  }
  constexpr bool infinite() const { return ns_ == INT64_MAX || ns_ == INT64_MIN; }
  friend constexpr Duration operator+(Duration a, Duration b) { return a.infinite() ? a : b.infinite() ? b : Duration(a.ns_ + b.ns_); }
  friend constexpr Duration operator-(Duration a, Duration b) { return a.infinite() ? a : b.infinite() ? -b : Duration(a.ns_ - b.ns_); }
  friend constexpr Duration operator-(Duration a) { return Duration(a.infinite() ? (a.ns_ > 0 ? INT64_MIN : INT64_MAX) : -a.ns_); }
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  friend constexpr Duration operator*(Duration a, N n) {
    if (a.infinite()) return Negative(n) ? -a : a;
    return Duration(static_cast<int64_t>(a.template As<N>() * n));
  }
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  friend constexpr Duration operator*(N n, Duration a) {
    return a * n;
  }
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  friend constexpr Duration operator/(Duration a, N n) {
    if (a.infinite() || n == 0) return Negative(n) == (a.ns_ < 0) ? Duration(INT64_MAX) : Duration(INT64_MIN);
    return Duration(static_cast<int64_t>(a.template As<N>() / n));
  }
  Duration& operator+=(Duration b) { return *this = *this + b; }
  Duration& operator-=(Duration b) { return *this = *this - b; }
  friend constexpr bool operator==(Duration a, Duration b) { return a.ns_ == b.ns_; }
  friend constexpr bool operator!=(Duration a, Duration b) { return a.ns_ != b.ns_; }
  friend constexpr bool operator<(Duration a, Duration b) { return a.ns_ < b.ns_; }
  friend constexpr bool operator>(Duration a, Duration b) { return a.ns_ > b.ns_; }
  friend constexpr bool operator<=(Duration a, Duration b) { return a.ns_ <= b.ns_; }
  friend constexpr bool operator>=(Duration a, Duration b) { return a.ns_ >= b.ns_; }
  friend std::ostream& operator<<(std::ostream& out, Duration d) { return out << static_cast<double>(d.ns_) * 1e-9 << "s"; }

 private:
  int64_t ns_ = 0;
};
// Since 1970.
class Time {
 public:
  constexpr Time() = default;
  constexpr explicit Time(Duration since) : since_(since) {}
  constexpr Duration since() const { return since_; }
  friend constexpr Time operator+(Time a, Duration b) { return Time(a.since_ + b); }
  friend constexpr Time operator-(Time a, Duration b) { return Time(a.since_ - b); }
  friend constexpr Duration operator-(Time a, Time b) { return a.since_ - b.since_; }
  friend constexpr bool operator==(Time a, Time b) { return a.since_ == b.since_; }
  friend constexpr bool operator!=(Time a, Time b) { return a.since_ != b.since_; }
  friend constexpr bool operator<(Time a, Time b) { return a.since_ < b.since_; }
  friend constexpr bool operator>(Time a, Time b) { return a.since_ > b.since_; }
  friend constexpr bool operator<=(Time a, Time b) { return a.since_ <= b.since_; }
  friend constexpr bool operator>=(Time a, Time b) { return a.since_ >= b.since_; }
  friend std::ostream& operator<<(std::ostream& out, Time t) { return out << t.since_; }

 private:
  Duration since_;
};

#define WEFT_DURATIONS(Name, NS)                                        \
  template <class N>                                                    \
  constexpr Duration Name(N n) {                                        \
    return Duration(int64_t{NS}) * n;                                   \
  }                                                                     \
  constexpr int64_t ToInt64##Name(Duration d) { return d.ns() / (NS); } \
  constexpr double ToDouble##Name(Duration d) { return static_cast<double>(d.ns()) / static_cast<double>(NS); }
WEFT_DURATIONS(Nanoseconds, 1)
WEFT_DURATIONS(Microseconds, 1000)
WEFT_DURATIONS(Milliseconds, 1000000)
WEFT_DURATIONS(Seconds, 1000000000)
WEFT_DURATIONS(Minutes, 60000000000)
WEFT_DURATIONS(Hours, 3600000000000)
#undef WEFT_DURATIONS
constexpr Duration ZeroDuration() { return Duration(); }
constexpr Duration InfiniteDuration() { return Duration(INT64_MAX); }
constexpr Time UnixEpoch() { return Time(); }
constexpr Time InfiniteFuture() { return Time(InfiniteDuration()); }
constexpr Time InfinitePast() { return Time(-InfiniteDuration()); }
constexpr int64_t ToUnixNanos(Time t) { return t.since().ns(); }
// Rounded down.
constexpr int64_t UnixUnits(Time t, int64_t unit) { return ToUnixNanos(t) / unit - (ToUnixNanos(t) % unit < 0); }
constexpr int64_t ToUnixMicros(Time t) { return UnixUnits(t, 1000); }
constexpr int64_t ToUnixMillis(Time t) { return UnixUnits(t, 1000000); }
constexpr int64_t ToUnixSeconds(Time t) { return UnixUnits(t, 1000000000); }
constexpr Time FromUnixNanos(int64_t n) { return Time(Nanoseconds(n)); }
constexpr Time FromUnixMicros(int64_t n) { return Time(Microseconds(n)); }
constexpr Time FromUnixMillis(int64_t n) { return Time(Milliseconds(n)); }
constexpr Time FromUnixSeconds(int64_t n) { return Time(Seconds(n)); }
inline Time Now() {
  return Time(Duration(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count()));
}
inline int64_t GetCurrentTimeNanos() { return ToUnixNanos(Now()); }
inline std::chrono::system_clock::time_point ToChronoTime(Time t) {
  using std::chrono::system_clock;
  return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(ToUnixNanos(t))));
}
inline Time FromChrono(std::chrono::system_clock::time_point t) {
  return Time(Duration(std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count()));
}
template <class Rep, class Period>
constexpr Duration FromChrono(std::chrono::duration<Rep, Period> d) {
  return Duration(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
}
constexpr std::chrono::nanoseconds ToChronoNanoseconds(Duration d) { return std::chrono::nanoseconds(d.ns()); }
constexpr std::chrono::microseconds ToChronoMicroseconds(Duration d) { return std::chrono::microseconds(d.ns() / 1000); }
constexpr std::chrono::milliseconds ToChronoMilliseconds(Duration d) { return std::chrono::milliseconds(d.ns() / 1000000); }
constexpr std::chrono::seconds ToChronoSeconds(Duration d) { return std::chrono::seconds(d.ns() / 1000000000); }
constexpr Duration AbsDuration(Duration d) { return d.ns() < 0 ? -d : d; }
inline double FDivDuration(Duration a, Duration b) { return static_cast<double>(a.ns()) / static_cast<double>(b.ns()); }
inline void SleepFor(Duration d) { std::this_thread::sleep_for(std::chrono::nanoseconds(d.ns())); }

}  // namespace absl_forms
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_ABSL_TIME_H_
