// SPDX-License-Identifier: Apache-2.0
//
// TraceMe: a span of the program in a profile. The engine's profiler shows the ops that run, not these.
#ifndef TENSORFLOW_CORE_PROFILER_LIB_TRACEME_H_
#define TENSORFLOW_CORE_PROFILER_LIB_TRACEME_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "tensorflow/core/platform/strcat.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace profiler {

enum TraceMeLevel { kCritical = 1, kInfo = 2, kVerbose = 3 };

class TraceMe {
 public:
  explicit TraceMe(std::string_view, int = 1) {}
  template <class Name, class = decltype(std::declval<Name>()())>
  explicit TraceMe(Name&&, int = 1) {}
  TraceMe(const TraceMe&) = delete;
  void operator=(const TraceMe&) = delete;
  ~TraceMe() {}
  void Stop() {}
  template <class Metadata>
  void AppendMetadata(Metadata&&) {}
  template <class Name>
  static int64 ActivityStart(Name&&, int = 1) {
    return 0;
  }
  static void ActivityEnd(int64) {}
  template <class Name>
  static void InstantActivity(Name&&, int = 1) {}
  static bool Active(int = 1) { return false; }
};

// "name#a=1,b=2#"
struct TraceMeArg {
  template <class T>
  TraceMeArg(std::string_view k, const T& v) : key(k), value(strings::StrCat(v)) {}
  std::string key, value;
};
inline std::string TraceMeEncode(std::string_view name, std::initializer_list<TraceMeArg> args) {
  std::string out = std::string(name) + "#";
  for (const TraceMeArg& a : args) out += (out.back() == '#' ? "" : ",") + a.key + "=" + a.value;
  return out + "#";
}

}  // namespace profiler
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PROFILER_LIB_TRACEME_H_
