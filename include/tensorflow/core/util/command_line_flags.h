// SPDX-License-Identifier: Apache-2.0
//
// Flags of a program: --name=value, and --name for those of type bool.
#ifndef TENSORFLOW_CORE_UTIL_COMMAND_LINE_FLAGS_H_
#define TENSORFLOW_CORE_UTIL_COMMAND_LINE_FLAGS_H_

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/strcat.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

class Flag {
 public:
  template <class T, class = std::enable_if_t<std::is_same_v<T, int32> || std::is_same_v<T, int64> || std::is_same_v<T, float> ||
                                              std::is_same_v<T, bool> || std::is_same_v<T, std::string>>>
  Flag(const char* name, T* dst, const std::string& usage, bool* dst_updated = nullptr)
      : Flag(
            name,
            [dst, dst_updated](T v) {
              *dst = std::move(v);
              if (dst_updated) *dst_updated = true;
              return true;
            },
            *dst, usage, nullptr) {}
  template <class T, class = std::enable_if_t<std::is_same_v<T, int32> || std::is_same_v<T, int64> || std::is_same_v<T, float> ||
                                              std::is_same_v<T, bool> || std::is_same_v<T, std::string>>>
  Flag(const char* name, T* dst) : Flag(name, dst, "") {}
  Flag(const char* name, std::function<bool(int32)> hook, int32 initial, const std::string& usage)
      : Flag(name, std::move(hook), initial, usage, nullptr) {}
  Flag(const char* name, std::function<bool(int64)> hook, int64 initial, const std::string& usage)
      : Flag(name, std::move(hook), initial, usage, nullptr) {}
  Flag(const char* name, std::function<bool(float)> hook, float initial, const std::string& usage)
      : Flag(name, std::move(hook), initial, usage, nullptr) {}
  Flag(const char* name, std::function<bool(bool)> hook, bool initial, const std::string& usage)
      : Flag(name, std::move(hook), initial, usage, nullptr) {}
  Flag(const char* name, std::function<bool(std::string)> hook, const std::string& initial, const std::string& usage)
      : Flag(name, std::move(hook), initial, usage, nullptr) {}
  bool is_default_initialized() const { return name_.empty(); }
  const std::string& name() const { return name_; }

 private:
  friend class Flags;
  template <class Hook, class T>
  Flag(const char* name, Hook hook, const T& initial, const std::string& usage, std::nullptr_t) : name_(name), usage_(usage) {
    default_ = Shown(initial);
    kind_ = std::is_same_v<T, bool>    ? "bool"
            : std::is_same_v<T, int32> ? "int32"
            : std::is_same_v<T, int64> ? "int64"
            : std::is_same_v<T, float> ? "float"
                                       : "string";
    is_bool_ = std::is_same_v<T, bool>;
    parse_ = [hook](std::string_view text) {
      T value{};
      return Read(text, &value) && hook(value);
    };
  }
  static std::string Shown(const std::string& v) { return "\"" + v + "\""; }
  static std::string Shown(bool v) { return v ? "true" : "false"; }
  template <class T>
  static std::string Shown(const T& v) {
    return strings::StrCat(v);
  }
  static bool Read(std::string_view text, std::string* v) { return *v = text, true; }
  static bool Read(std::string_view text, bool* v) {
    *v = text.empty() || text == "=true" || text == "true" || text == "1";
    return *v || text == "false" || text == "0";
  }
  template <class T>
  static bool Read(std::string_view text, T* v) {
    const std::string all(text);
    char* end = nullptr;
    errno = 0;
    if constexpr (std::is_floating_point_v<T>) *v = std::strtof(all.c_str(), &end);
    else {
      const int64 wide = std::strtoll(all.c_str(), &end, 10);
      *v = static_cast<T>(wide);
      if (static_cast<int64>(*v) != wide) return false;
    }
    return !all.empty() && *end == 0 && errno != ERANGE;
  }

  std::string name_, usage_, default_, kind_;
  bool is_bool_ = false;
  std::function<bool(std::string_view)> parse_;
};

class Flags {
 public:
  // Takes the flags that it knows out of argv, up to "--". False where a value cannot be read.
  static bool Parse(int* argc, char** argv, const std::vector<Flag>& flag_list) {
    std::vector<char*> rest;
    bool ok = true;
    int i = 1;
    for (; i < *argc; ++i) {
      const std::string_view arg = argv[i];
      if (arg == "--") break;
      bool taken = false;
      for (const Flag& flag : flag_list) {
        const std::string name = "--" + flag.name_;
        if (arg.substr(0, name.size()) != name) continue;
        const std::string_view value = arg.substr(name.size());
        if (!value.empty() && value[0] != '=') continue;
        if (value.empty() && !flag.is_bool_) continue;
        taken = true;
        if (!flag.parse_(value.empty() ? value : value.substr(1))) {
          LOG(ERROR) << "Couldn't interpret value " << (value.empty() ? value : value.substr(1)) << " for flag " << flag.name_ << ".";
          ok = false;
        }
        break;
      }
      if (!taken) rest.push_back(argv[i]);
    }
    for (; i < *argc; ++i) rest.push_back(argv[i]);
    int at = 1;
    for (char* arg : rest) argv[at++] = arg;
    argv[at] = nullptr;
    *argc = at;
    return ok && (at < 2 || std::string_view(argv[1]) != "--help");
  }
  static bool Parse(std::vector<std::string>& flags, const std::vector<Flag>& flag_list) {
    std::vector<char*> argv = {nullptr};
    for (std::string& flag : flags) argv.push_back(flag.data());
    int argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    const bool ok = Parse(&argc, argv.data(), flag_list);
    std::vector<std::string> rest(argv.begin() + 1, argv.begin() + argc);
    flags = rest;
    return ok;
  }
  static std::string Usage(const std::string& command, const std::vector<Flag>& flag_list) {
    std::string text = "usage: " + command + "\n";
    if (!flag_list.empty()) text += "Flags:\n";
    for (const Flag& flag : flag_list) {
      std::string line = "--" + flag.name_ + "=" + flag.default_;
      if (line.size() < 32) line.resize(32, ' ');
      text += "\t" + line + "\t" + flag.kind_ + "\t" + flag.usage_ + "\n";
    }
    return text;
  }
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_COMMAND_LINE_FLAGS_H_
