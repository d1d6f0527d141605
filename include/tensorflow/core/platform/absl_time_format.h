// SPDX-License-Identifier: Apache-2.0
//
// absl::ParseTime and absl::FormatTime for those who have no abseil, in UTC: the specifiers of strptime that are numbers and names of the C locale, and
// abseil's own (%E4Y, %E*S, %E3S, %E*f, %Ez, %E*z, %ET).
#ifndef TENSORFLOW_CORE_PLATFORM_ABSL_TIME_FORMAT_H_
#define TENSORFLOW_CORE_PLATFORM_ABSL_TIME_FORMAT_H_

#include <cctype>
#include <ctime>
#include <string>
#include <string_view>

#include "tensorflow/core/platform/absl_time.h"

namespace tensorflow {
namespace absl_forms {

class TimeZone {};
inline TimeZone UTCTimeZone() { return {}; }
inline constexpr char RFC3339_full[] = "%Y-%m-%d%ET%H:%M:%E*S%Ez";
inline constexpr char RFC3339_sec[] = "%Y-%m-%d%ET%H:%M:%S%Ez";
inline constexpr char RFC1123_full[] = "%a, %d %b %E4Y %H:%M:%S %z";
inline constexpr char RFC1123_no_wday[] = "%d %b %E4Y %H:%M:%S %z";

namespace time_format {

// Days since 1970 of a day of the Gregorian calendar, and back; eras have 400 years, years begin in March.
constexpr int64_t DaysOf(int64_t year, int month, int day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}
struct Civil {
  int64_t year = 1970;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0;
  int64_t nanos = 0;
};
inline Civil CivilOf(int64_t seconds, int64_t nanos) {
  int64_t days = seconds / 86400, rest = seconds % 86400;
  if (rest < 0) rest += 86400, --days;
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
  const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100), month = (5 * of_year + 2) / 153;
  Civil c;
  c.day = static_cast<int>(of_year - (153 * month + 2) / 5 + 1);
  c.month = static_cast<int>(month + (month < 10 ? 3 : -9));
  c.year = year_of_era + era * 400 + (c.month <= 2);
  c.hour = static_cast<int>(rest / 3600), c.minute = static_cast<int>(rest / 60 % 60), c.second = static_cast<int>(rest % 60);
  c.nanos = nanos;
  return c;
}

// Reads a text; after the first failure all fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }
  char peek() const { return rest_.empty() ? '\0' : rest_[0]; }
  // Whether this is all that is left, but for spaces behind it.
  bool IsAll(std::string_view text) const {
    return rest_.substr(0, text.size()) == text && rest_.find_first_not_of(" \t\n\v\f\r", text.size()) == std::string_view::npos;
  }
  bool Take(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void Expect(char c) { ok_ = ok_ && Take(c); }
  void SkipSpace() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) rest_.remove_prefix(1);
  }
  // At most `width` digits (0: any number), between the limits.
  int64_t Number(int width, int64_t least, int64_t most) {
    int64_t n = 0;
    const bool negative = least < 0 && Take('-');
    int digits = 0;
    for (; std::isdigit(static_cast<unsigned char>(peek())) && (width == 0 || digits < width) && digits < 18; ++digits) {
      n = n * 10 + (peek() - '0');
      rest_.remove_prefix(1);
    }
    n = negative ? -n : n;
    ok_ = ok_ && digits > 0 && n >= least && n <= most;
    return n;
  }
  // Digits of a fraction of a second, those beyond a billionth dropped.
  int64_t Fraction() {
    int64_t nanos = 0, unit = 100000000;
    bool any = false;
    for (; std::isdigit(static_cast<unsigned char>(peek())); rest_.remove_prefix(1), any = true) nanos += (peek() - '0') * unit, unit /= 10;
    ok_ = ok_ && any;
    return nanos;
  }
  // Seconds east of UTC: Z, +01, +0130, +01:30, +01:30:15.
  int64_t Offset() {
    if (Take('Z') || Take('z')) return 0;
    const int64_t sign = Take('-') ? -1 : 1;
    if (sign == 1) Expect('+');
    int64_t seconds = Number(2, 0, 23) * 3600;
    for (int64_t unit : {60, 1}) {
      const bool colon = Take(':');
      if (!colon && !std::isdigit(static_cast<unsigned char>(peek()))) break;
      seconds += Number(2, 0, 59) * unit;
    }
    return sign * seconds;
  }
  // The number of the name, whole or by its first three letters.
  int Name(const char* const* names, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string_view name = names[i];
      for (const size_t n : {name.size(), size_t{3}}) {
        if (!Begins(name.substr(0, n))) continue;
        rest_.remove_prefix(n);
        return i;
      }
    }
    ok_ = false;
    return 0;
  }
  void SkipWord() {
    while (!rest_.empty() && !std::isspace(static_cast<unsigned char>(rest_[0]))) rest_.remove_prefix(1);
  }
  void Fail() { ok_ = false; }

 private:
  bool Begins(std::string_view word) const {
    if (rest_.size() < word.size()) return false;
    for (size_t i = 0; i < word.size(); ++i) {
      if (std::tolower(static_cast<unsigned char>(rest_[i])) != std::tolower(static_cast<unsigned char>(word[i]))) return false;
    }
    return true;
  }
  std::string_view rest_;
  bool ok_ = true;
};

inline constexpr std::string_view kInfiniteFuture = "infinite-future", kInfinitePast = "infinite-past";
inline constexpr const char* kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                          "July",    "August",   "September", "October", "November", "December"};
inline constexpr const char* kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

struct Parsed {
  Civil civil;
  int64_t offset = 0, epoch = 0;
  bool has_epoch = false, afternoon = false, twelve_hours = false;
};
inline void Parse(std::string_view format, Reader& in, Parsed& out) {
  Civil& c = out.civil;
  while (!format.empty() && in.ok()) {
    const char f = format[0];
    format.remove_prefix(1);
    if (std::isspace(static_cast<unsigned char>(f))) {
      in.SkipSpace();
      continue;
    }
    if (f != '%' || format.empty()) {
      in.Expect(f);
      continue;
    }
    char what = format[0];
    format.remove_prefix(1);
    if (what == 'E' && !format.empty()) {
      size_t digits = 0;
      while (digits < format.size() && std::isdigit(static_cast<unsigned char>(format[digits]))) ++digits;
      const size_t at = digits ? digits : format[0] == '*';
      const char kind = at < format.size() ? format[at] : '\0';
      if (kind == 'S' || kind == 'f' || kind == 'z' || (kind == 'Y' && digits == 1 && format[0] == '4') || (kind == 'T' && at == 0)) {
        format.remove_prefix(at + 1);
        if (kind == 'S') {
          c.second = static_cast<int>(in.Number(2, 0, 60));
          if (in.Take('.')) c.nanos = in.Fraction();
        } else if (kind == 'f') {
          if (std::isdigit(static_cast<unsigned char>(in.peek()))) c.nanos = in.Fraction();
        } else if (kind == 'z') {
          out.offset = in.Offset();
        } else if (kind == 'Y') {
          c.year = in.Number(4, -999, 9999);
        } else if (!in.Take('T')) {
          in.Expect('t');
        }
        continue;
      }
      what = format[0];  // as without E
      format.remove_prefix(1);
    }
    switch (what) {
      case 'Y': c.year = in.Number(0, -99999999, 99999999); break;
      case 'y': c.year = in.Number(2, 0, 99), c.year += c.year < 69 ? 2000 : 1900; break;
      case 'm': c.month = static_cast<int>(in.Number(2, 1, 12)); break;
      case 'd':
      case 'e':
        in.SkipSpace();
        c.day = static_cast<int>(in.Number(2, 1, 31));
        break;
      case 'H': c.hour = static_cast<int>(in.Number(2, 0, 23)), out.twelve_hours = false; break;
      case 'I': c.hour = static_cast<int>(in.Number(2, 1, 12)) % 12, out.twelve_hours = true; break;
      case 'p': {
        static constexpr const char* kHalves[] = {"AM", "PM"};
        out.afternoon = (in.peek() == 'p' || in.peek() == 'P');
        in.Name(&kHalves[out.afternoon], 1);
        break;
      }
      case 'M': c.minute = static_cast<int>(in.Number(2, 0, 59)); break;
      case 'S': c.second = static_cast<int>(in.Number(2, 0, 60)); break;
      case 'b':
      case 'B':
      case 'h': c.month = in.Name(kMonths, 12) + 1; break;
      case 'a':
      case 'A': in.Name(kDays, 7); break;
      case 'F': Parse("%Y-%m-%d", in, out); break;
      case 'T': Parse("%H:%M:%S", in, out); break;
      case 'R': Parse("%H:%M", in, out); break;
      case 'D': Parse("%m/%d/%y", in, out); break;
      case 'z': out.offset = in.Offset(); break;
      case 'Z': in.SkipWord(); break;
      case 's': out.epoch = in.Number(0, -999999999999, 999999999999), out.has_epoch = true; break;
      case 'n':
      case 't': in.SkipSpace(); break;
      case '%': in.Expect('%'); break;
      default: in.Fail();
    }
  }
}

}  // namespace time_format

// False, and why, for a text that does not have the format.
inline bool ParseTime(std::string_view format, std::string_view input, TimeZone, Time* time, std::string* err) {
  using namespace time_format;
  Reader in(input);
  Parsed p;
  in.SkipSpace();
  if (in.IsAll(kInfiniteFuture)) return *time = InfiniteFuture(), true;
  if (in.IsAll(kInfinitePast)) return *time = InfinitePast(), true;
  while (!format.empty() && std::isspace(static_cast<unsigned char>(format[0]))) format.remove_prefix(1);
  Parse(format, in, p);
  const char* wrong = in.ok() ? nullptr : "Failed to parse input";
  in.SkipSpace();
  if (!wrong && !in.empty()) wrong = "Illegal trailing data in input string";
  const Civil& c = p.civil;
  const int days = c.month == 2 ? 28 + (c.year % 4 == 0 && (c.year % 100 != 0 || c.year % 400 == 0)) : 30 + ((c.month + c.month / 8) % 2);
  if (!wrong && !p.has_epoch && c.day > days) wrong = "Out-of-range field";
  if (wrong) {
    if (err) *err = wrong;
    return false;
  }
  int64_t seconds = p.epoch;
  if (!p.has_epoch) {
    const int hour = c.hour + (p.twelve_hours && p.afternoon ? 12 : 0);
    seconds = DaysOf(c.year, c.month, c.day) * 86400 + hour * 3600 + c.minute * 60 + c.second - p.offset;
  }
  constexpr int64_t kMost = 9223372036;  // nanoseconds in 64 bits: from 1677 to 2262
  if (seconds < -kMost || seconds >= kMost) {
    if (err) *err = "Out-of-range field";
    return false;
  }
  *time = FromUnixSeconds(seconds) + Nanoseconds(p.has_epoch || c.second == 60 ? 0 : c.nanos);
  return true;
}
inline bool ParseTime(std::string_view format, std::string_view input, Time* time, std::string* err) {
  return ParseTime(format, input, UTCTimeZone(), time, err);
}

inline std::string FormatTime(std::string_view format, Time time, TimeZone) {
  using namespace time_format;
  if (time == InfiniteFuture()) return std::string(kInfiniteFuture);
  if (time == InfinitePast()) return std::string(kInfinitePast);
  const int64_t ns = ToUnixNanos(time), seconds = ToUnixSeconds(time);
  const Civil c = CivilOf(seconds, ns - seconds * 1000000000);
  std::tm tm{};
  tm.tm_year = static_cast<int>(c.year - 1900), tm.tm_mon = c.month - 1, tm.tm_mday = c.day;
  tm.tm_hour = c.hour, tm.tm_min = c.minute, tm.tm_sec = c.second;
  const int64_t day = DaysOf(c.year, c.month, c.day);
  tm.tm_wday = static_cast<int>(((day + 4) % 7 + 7) % 7), tm.tm_yday = static_cast<int>(day - DaysOf(c.year, 1, 1));
  const auto padded = [](int64_t n, size_t width) {
    std::string digits = std::to_string(n);
    return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
  };
  // Of so many digits, or (-1) as many as there are but zeros at the end.
  const auto fraction = [&](int digits) {
    std::string text = padded(c.nanos, 9);
    if (digits >= 0) text.resize(static_cast<size_t>(digits), '0');
    else text.resize(text.find_last_not_of('0') + 1);
    return text;
  };
  std::string out;
  while (!format.empty()) {
    if (format[0] != '%' || format.size() < 2) {
      out += format[0];
      format.remove_prefix(1);
      continue;
    }
    format.remove_prefix(1);
    if (format[0] == 'E') {
      size_t digits = 1;
      while (digits < format.size() && std::isdigit(static_cast<unsigned char>(format[digits]))) ++digits;
      const bool number = digits > 1, star = !number && digits < format.size() && format[digits] == '*';
      const size_t at = digits + star;
      const char kind = at < format.size() ? format[at] : '\0';
      const int width = number ? std::stoi(std::string(format.substr(1, digits - 1))) : star ? -1 : 0;
      if (kind == 'S' && (number || star)) {
        const std::string f = fraction(width);
        out += padded(c.second, 2) + (f.empty() ? "" : "." + f);
      } else if (kind == 'f' && (number || star)) {
        const std::string f = fraction(width);
        out += f.empty() ? "0" : f;
      } else if (kind == 'z') {
        out += star ? "+00:00:00" : "+00:00";
      } else if (kind == 'Y' && number) {
        out += padded(c.year, 4);
      } else if (kind == 'T') {
        out += 'T';
      } else {
        out += "%E";
        format.remove_prefix(1);
        continue;
      }
      format.remove_prefix(at + 1);
      continue;
    }
    const char what = format[0];
    format.remove_prefix(1);
    if (what == 'Y') {
      out += std::to_string(c.year);
    } else if (what == 's') {
      out += std::to_string(seconds);
    } else if (what == 'z') {
      out += "+0000";
    } else if (what == 'Z') {
      out += "UTC";
    } else {
      char text[64];
      const char one[] = {'%', what, '\0'};
      out.append(text, std::strftime(text, sizeof text, one, &tm));
    }
  }
  return out;
}
inline std::string FormatTime(Time time, TimeZone zone) { return FormatTime(RFC3339_full, time, zone); }
// In abseil that of the machine's own time zone.
inline std::string FormatTime(Time time) { return FormatTime(time, UTCTimeZone()); }

}  // namespace absl_forms
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_ABSL_TIME_FORMAT_H_
