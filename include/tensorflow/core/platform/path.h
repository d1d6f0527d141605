// SPDX-License-Identifier: Apache-2.0
//
// Names of files: io::JoinPath and its like.
#ifndef TENSORFLOW_CORE_PLATFORM_PATH_H_
#define TENSORFLOW_CORE_PLATFORM_PATH_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tensorflow {
namespace io {

namespace internal {
inline std::string JoinPathImpl(std::initializer_list<std::string_view> paths) {
  std::string out;
  for (std::string_view path : paths) {
    if (path.empty()) continue;
    if (out.empty()) {
      out = path;
      continue;
    }
    if (out.back() == '/') out.append(path[0] == '/' ? path.substr(1) : path);
    else if (path[0] == '/') out.append(path);
    else out.append("/").append(path);
  }
  return out;
}
// Where the path begins behind "scheme://host".
inline size_t PathStart(std::string_view uri) {
  const size_t scheme = uri.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return 0;
  const size_t slash = uri.find('/', scheme + 3);
  return slash == std::string_view::npos ? uri.size() : slash;
}
}  // namespace internal

template <class... T>
std::string JoinPath(const T&... paths) {
  return internal::JoinPathImpl({std::string_view(paths)...});
}
inline bool IsAbsolutePath(std::string_view path) { return !path.empty() && path[0] == '/'; }
inline std::string_view Dirname(std::string_view path) {
  const size_t start = internal::PathStart(path), slash = path.rfind('/');
  if (slash == std::string_view::npos || slash < start) return path.substr(0, start);
  return path.substr(0, slash == start ? slash + 1 : slash);
}
inline std::string_view Basename(std::string_view path) {
  const size_t start = internal::PathStart(path), slash = path.rfind('/');
  return path.substr(slash == std::string_view::npos || slash < start ? start : slash + 1);
}
inline std::string_view Extension(std::string_view path) {
  const std::string_view name = Basename(path);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name.substr(name.size()) : name.substr(dot + 1);
}
inline std::string_view BasenamePrefix(std::string_view path) {
  const std::string_view name = Basename(path);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(0, dot);
}
// Without "//", "/./" and "x/..".
inline std::string CleanPath(std::string_view path) {
  const bool absolute = IsAbsolutePath(path);
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = path.find('/', at) == std::string_view::npos ? path.size() : path.find('/', at);
    const std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") parts.push_back(part);
    else if (!parts.empty() && parts.back() != "..") parts.pop_back();
    else if (!absolute) parts.push_back(part);
  }
  std::string out = absolute ? "/" : "";
  for (size_t i = 0; i < parts.size(); ++i) out.append(i ? "/" : "").append(parts[i]);
  return out.empty() ? "." : out;
}
inline void ParseURI(std::string_view uri, std::string_view* scheme, std::string_view* host, std::string_view* path) {
  const size_t mark = uri.find("://"), start = internal::PathStart(uri);
  const bool has = mark != std::string_view::npos && mark > 0;
  *scheme = has ? uri.substr(0, mark) : uri.substr(0, 0);
  *host = has ? uri.substr(mark + 3, start - mark - 3) : uri.substr(0, 0);
  *path = uri.substr(start);
}

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_PATH_H_
