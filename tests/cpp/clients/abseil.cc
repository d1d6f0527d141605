// Abseil's names in a program that takes them from include/tensorflow/fallback. Prints what it prints with abseil itself.
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"

void Show(const char* what, const std::vector<std::string>& parts) {
  std::printf("%s:", what);
  for (const auto& p : parts) std::printf(" [%s]", p.c_str());
  std::printf("\n");
}

absl::StatusOr<int> Half(int n) {
  if (n % 2) return absl::InvalidArgumentError(absl::StrCat(n, " is odd"));
  return n / 2;
}
int Total(absl::Span<const int> all) {
  int sum = 0;
  for (int x : all) sum += x;
  return sum;
}

int Steps(int n) {
  int steps = 0;
  switch (n) {
    case 2: ++steps; ABSL_FALLTHROUGH_INTENDED;
    case 1: ++steps; ABSL_FALLTHROUGH_INTENDED;
    default: return steps;
  }
}

class Counter {
 public:
  void Add(int n) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    count_ += n;
  }
  int Get() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::ReaderMutexLock lock(&mu_);
    return count_;
  }

 private:
  absl::Mutex mu_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
};

void Parse(const char* format, const char* text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(format, text, &time, &error)) {
    std::printf("%s: %s\n", text, error.c_str());
    return;
  }
  std::printf("%s: %lld %lld\n", text, static_cast<long long>(absl::ToUnixSeconds(time)), static_cast<long long>(absl::ToUnixNanos(time)));
}

void Times() {
  for (const char* text :
       {"2019-05-17T23:56:09.05Z", "2019-05-17T23:56:09+01:30", "2000-02-29T00:00:00Z", "1969-12-31T23:59:59.5Z", "1900-02-29T00:00:00Z",
        "2019-05-17", " 2019-05-17T01:02:03-00:30 ", "2019-05-17T23:56:09Z more", "2019-13-01T00:00:00Z", "text"})
    Parse(absl::RFC3339_full, text);
  Parse("%Y-%m-%dT%H:%M:%E*S%Ez", "2019-05-30T22:33:44.55Z");
  Parse("%d/%b/%Y:%H:%M:%S %z", "07/Mar/2021:04:05:06 -0700");
  Parse("%A, %B %d, %Y %I:%M %p", "Monday, June 07, 2021 12:05 am");
  Parse("%a %b %e %H:%M %Y", "Tue Jun  8 23:05 2021");
  Parse("%F %T", "1783-01-02 03:04:05");
  Parse("%s", "1234567890");
  Parse("%m/%d/%y", "12/31/99");
  Parse("100%% %Y", "100% 2020");
  Parse("%H:%M", "24:00");
  Parse("%Y-%m-%d", "2021-04-31");
  Parse("%E4Y%m%d", "20210607");
  for (const char* text : {"infinite-past", " infinite-future ", "infinite-futures", "infinite", "Infinite-past"}) {
    absl::Time time;
    std::string error;
    const bool parsed = absl::ParseTime("%Y", text, &time, &error);
    std::printf("[%s]: %d %d %d %s\n", text, parsed, parsed && time == absl::InfinitePast(), parsed && time == absl::InfiniteFuture(), error.c_str());
  }
  const absl::Duration infinite = absl::InfiniteDuration(), second = absl::Seconds(1);
  std::printf("%d %d %d %d\n", infinite / 2 == infinite, infinite * -1 == -infinite, infinite / -2.0 == -infinite, -infinite * -0.5 == infinite);
  std::printf("%d %d %d %d\n", second / 0 == infinite, -second / 0 == -infinite, second / -0.0 == -infinite, infinite * -0.0 == -infinite);
  const absl::TimeZone utc = absl::UTCTimeZone();
  std::printf("%s %s\n", absl::FormatTime("%Y", absl::InfinitePast(), utc).c_str(), absl::FormatTime(absl::InfiniteFuture(), utc).c_str());
  for (int64_t seconds : {0LL, 951782400LL, 1558137369LL, -1LL, -5000000000LL}) {
    const absl::Time t = absl::FromUnixSeconds(seconds) + absl::Milliseconds(50);
    std::printf("%s|%s|%s\n", absl::FormatTime(t, utc).c_str(), absl::FormatTime("%a %d %b %Y %j %I%p %y %s", t, utc).c_str(),
                absl::FormatTime("%E4Y %E3S %E*S %E2f %E*f %Ez %z %Z %D %%", t, utc).c_str());
  }
}

int main() {
  std::printf("steps %d %d\n", Steps(2), Steps(1));
  Show("char", absl::StrSplit("a,b,,c", ','));
  Show("text", absl::StrSplit("a--b-c--", "--"));
  Show("none", absl::StrSplit("", ','));
  Show("skip", absl::StrSplit("a,,b,", ',', absl::SkipEmpty()));
  Show("white", absl::StrSplit(" a , ,b", ',', absl::SkipWhitespace()));
  Show("any", absl::StrSplit("a,b;c", absl::ByAnyChar(",;")));
  const std::set<std::string> unique = absl::StrSplit("b a b", ' ');
  const std::pair<std::string, std::string> two = absl::StrSplit("key=value", '=');
  std::printf("%s %s %s\n", absl::StrJoin(unique, "+").c_str(), two.first.c_str(), two.second.c_str());
  for (absl::string_view part : absl::StrSplit("x:y", ':')) std::printf("%s;", std::string(part).c_str());
  std::printf(" %s %s\n", absl::StrJoin({1, 2, 3}, ", ").c_str(),
              absl::StrJoin(std::vector<int>{1, 2}, "-", [](std::string* out, int n) { absl::StrAppend(out, "<", n, ">"); }).c_str());
  std::printf("%s %s [%s]\n", absl::AsciiStrToLower("ABc").c_str(), absl::AsciiStrToUpper("abC").c_str(),
              std::string(absl::StripAsciiWhitespace(" \t x y\n")).c_str());
  std::printf("%d%d%d%d%d%d\n", absl::StartsWith("abc", "ab"), absl::EndsWith("abc", "ab"), absl::StrContains("abc", "bc"),
              absl::StrContains("abc", 'd'), absl::EqualsIgnoreCase("Ab", "aB"), absl::StartsWithIgnoreCase("ABC", "abx"));
  absl::string_view view = "prefix.name";
  const bool consumed = absl::ConsumePrefix(&view, "prefix.");
  std::printf("%d %s %s %s\n", consumed, std::string(view).c_str(), std::string(absl::StripSuffix("a.cc", ".cc")).c_str(),
              absl::StrReplaceAll("a b a", {{"a", "xy"}, {" ", "_"}}).c_str());
  int32_t i = 5;
  int64_t l = 0;
  float f = 0;
  bool b = false;
  const bool far = absl::SimpleAtoi("99999999999", &i), wide = absl::SimpleAtoi("99999999999", &l), real = absl::SimpleAtof("2.5", &f),
             yes = absl::SimpleAtob("TRUE", &b), no = absl::SimpleAtoi("12x", &l);
  std::printf("%d %d %d %g %d %d %d\n", far, wide, real, static_cast<double>(f), yes, b, no);
  std::printf("%s|%s\n", absl::StrFormat("%d %s %.2f %5d|", 3, std::string("text"), 1.5, 42).c_str(), absl::StrCat("a", 1, 2.5, true).c_str());
  absl::flat_hash_map<std::string, int> map = {{"a", 1}};
  map["b"] = 2;
  absl::flat_hash_set<int> set = {1, 2, 2};
  std::printf("%d %d %d %d\n", map.contains("b"), map.contains("c"), static_cast<int>(set.size()), map.try_emplace("a", 9).second);
  const auto good = Half(4), bad = Half(3);
  std::printf("%d %d %s %d\n", good.ok(), *good, bad.status().ToString().c_str(), bad.value_or(7));
  std::printf("%s %d\n", absl::OkStatus().ToString().c_str(), absl::IsInvalidArgument(bad.status()));
  std::printf("%d %d\n", Total({1, 2, 3}), Total(absl::MakeConstSpan(std::vector<int>{4, 5})));
  Counter counter;
  counter.Add(2);
  absl::Notification done;
  done.Notify();
  std::printf("%d %d %d\n", counter.Get(), done.HasBeenNotified(), *absl::make_unique<int>(3));
  const absl::Time start = absl::Now();
  absl::SleepFor(absl::Milliseconds(1));
  std::printf("%d %d %g %d\n", absl::Now() - start >= absl::Milliseconds(1), static_cast<int>(absl::ToInt64Microseconds(absl::Seconds(1.5))),
              absl::ToDoubleSeconds(absl::Minutes(2)), absl::Seconds(1) < absl::Hours(1));
  absl::optional<int> maybe = absl::nullopt;
  std::printf("%d %d\n", maybe.has_value(), maybe.value_or(4));
  Times();
}
