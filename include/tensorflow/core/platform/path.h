// SPDX-License-Identifier: Apache-2.0
//
// io::JoinPath and other functions on names of files.
#ifndef TENSORFLOW_CORE_PLATFORM_PATH_H_
#define TENSORFLOW_CORE_PLATFORM_PATH_H_

#include <initializer_list>
#include <string>

#include "tensorflow/core/platform/stringpiece.h"

namespace tensorflow {
namespace io {
namespace internal {
inline std::string JoinPathImpl(std::initializer_list<StringPiece> parts) {
  std::string out;
  for (StringPiece part : parts) {
    if (part.empty()) continue;
    if (out.empty()) {
      out = part;
      continue;
    }
    if (out.back() == '/') {
      out.append(part.front() == '/' ? part.substr(1) : part);
    } else {
      if (part.front() != '/') out += '/';
      out.append(part);
    }
  }
  return out;
}
}  // namespace internal

template <class... Parts>
std::string JoinPath(const Parts&... parts) {
  return internal::JoinPathImpl({StringPiece(parts)...});
}
inline bool IsAbsolutePath(StringPiece path) { return !path.empty() && path[0] == '/'; }
inline StringPiece Dirname(StringPiece path) {
  const size_t at = path.rfind('/');
  return at == StringPiece::npos ? StringPiece() : path.substr(0, at == 0 ? 1 : at);
}
inline StringPiece Basename(StringPiece path) {
  const size_t at = path.rfind('/');
  return at == StringPiece::npos ? path : path.substr(at + 1);
}
inline StringPiece Extension(StringPiece path) {
  const StringPiece name = Basename(path);
  const size_t at = name.rfind('.');
  return at == StringPiece::npos ? StringPiece() : name.substr(at + 1);
}
inline StringPiece BasenamePrefix(StringPiece path) {
  const StringPiece name = Basename(path);
  const size_t at = name.rfind('.');
  return at == StringPiece::npos ? name : name.substr(0, at);
}
// Without doubled slashes, "." and, where that is possible, "..".
inline std::string CleanPath(StringPiece path) {
  const bool absolute = IsAbsolutePath(path);
  std::string out;
  size_t begin = 0;
  const auto last = [&] {
    const size_t at = out.rfind('/');
    return at == std::string::npos ? StringPiece(out) : StringPiece(out).substr(at + 1);
  };
  while (begin <= path.size()) {
    size_t end = path.find('/', begin);
    if (end == StringPiece::npos) end = path.size();
    const StringPiece part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && !out.empty() && last() != "..") {
      const size_t at = out.rfind('/');
      out.resize(at == std::string::npos ? 0 : at);
    } else if (part != ".." || !absolute) {
      if (!out.empty()) out += '/';
      out.append(part);
    }
  }
  if (absolute) return "/" + out;
  return out.empty() ? "." : out;
}

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_PATH_H_
