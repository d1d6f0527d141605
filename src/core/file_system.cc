#include "core/file_system.h"

#include <fnmatch.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "core/error_notes.h"

namespace weft_engine::core {
namespace {

struct Systems {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<FileSystem>, std::less<>> by_scheme;
};

Systems& systems() {
  static auto* all = [] {
    auto* made = new Systems;
    made->by_scheme.emplace("ram", make_ram_file_system());
    return made;
  }();
  return *all;
}

bool is_local(std::string_view scheme) { return scheme.empty() || scheme == "file"; }

Code code_of(int error) {
  switch (error) {
    case 0: return Code::kOk;
    case EINVAL:
    case ENAMETOOLONG:
    case E2BIG:
    case EDESTADDRREQ:
    case EDOM:
    case EFAULT:
    case EILSEQ:
    case ENOPROTOOPT:
    case ENOSTR:
    case ENOTSOCK:
    case ENOTTY:
    case EPROTOTYPE:
    case ESPIPE: return Code::kInvalidArgument;
    case ETIMEDOUT:
    case ETIME: return Code::kDeadlineExceeded;
    case ENODEV:
    case ENOENT:
    case ENXIO:
    case ESRCH: return Code::kNotFound;
    case EEXIST:
    case EADDRNOTAVAIL:
    case EALREADY: return Code::kAlreadyExists;
    case EPERM:
    case EACCES:
    case EROFS: return Code::kPermissionDenied;
    case ENOTEMPTY:
    case EISDIR:
    case ENOTDIR:
    case EADDRINUSE:
    case EBADF:
    case EBUSY:
    case ECHILD:
    case EISCONN:
    case ENOTBLK:
    case ENOTCONN:
    case EPIPE:
    case ESHUTDOWN:
    case ETXTBSY: return Code::kFailedPrecondition;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case EMLINK:
    case ENFILE:
    case ENOBUFS:
    case ENODATA:
    case ENOMEM:
    case ENOSR:
    case EUSERS: return Code::kResourceExhausted;
    case EFBIG:
    case EOVERFLOW:
    case ERANGE: return Code::kOutOfRange;
    case ENOSYS:
    case ENOTSUP:
    case EAFNOSUPPORT:
    case EPFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT:
    case EXDEV: return Code::kUnimplemented;
    case EAGAIN:
    case ECONNREFUSED:
    case ECONNABORTED:
    case ECONNRESET:
    case EINTR:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETRESET:
    case ENETUNREACH:
    case ENOLCK:
    case ENOLINK:
    case ENONET: return Code::kUnavailable;
    case EDEADLK:
    case ESTALE: return Code::kAborted;
    case ECANCELED: return Code::kCancelled;
    default: return Code::kUnknown;
  }
}

}  // namespace

Status register_file_system(const std::string& scheme, std::unique_ptr<FileSystem> system) {
  Systems& all = systems();
  const std::lock_guard lock(all.mutex);
  if (is_local(scheme) || !all.by_scheme.try_emplace(scheme, std::move(system)).second)
    return already_exists("File system for ", scheme, " already registered");
  return {};
}

std::vector<std::string> file_system_schemes() {
  Systems& all = systems();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> out = {"", "file"};
  for (const auto& [scheme, system] : all.by_scheme) out.push_back(scheme);
  return out;
}

Uri parse_uri(std::string_view name) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  size_t end = 0;
  if (!name.empty() && is_letter(name[0]))
    while (end < name.size() && (is_letter(name[end]) || (name[end] >= '0' && name[end] <= '9') || name[end] == '.')) ++end;
  if (end == 0 || name.substr(end, 3) != "://") return {{}, {}, name};
  const std::string_view rest = name.substr(end + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  return {name.substr(0, end), rest.substr(0, slash), rest.substr(slash)};
}

Result<Place> locate(std::string_view name) {
  const Uri uri = parse_uri(name);
  if (uri.scheme.empty()) return Place{local_file_system(), std::string(name), true};
  if (is_local(uri.scheme)) return Place{local_file_system(), std::string(name.substr(uri.scheme.size() + 3)), true};
  Systems& all = systems();
  const std::lock_guard lock(all.mutex);
  const auto it = all.by_scheme.find(uri.scheme);
  if (it == all.by_scheme.end()) return unimplemented("File system scheme '", uri.scheme, "' not implemented (file: '", name, "')");
  return Place{*it->second, std::string(name), false};
}

namespace {

constexpr int kMostFolders = 100;  // one inside the other

// The first error is told.
Status delete_all(FileSystem& system, const std::string& name, int64_t& files, int64_t& folders, int depth) {
  if (depth == 0) return failed_precondition("Folders are nested too deeply: ", name);
  auto info = system.stat(name);
  if (!info.ok()) {
    ++folders;
    return info.status();
  }
  if (!info->is_directory) {
    const Status done = system.delete_file(name);
    files += !done.ok();
    return done;
  }
  Status first;
  auto note = [&](const Status& s) {
    if (first.ok()) first = s;
  };
  auto inside = system.children(name);
  note(inside.status());
  if (inside.ok())
    for (const std::string& child : *inside) note(delete_all(system, cat(name, name.ends_with('/') ? "" : "/", child), files, folders, depth - 1));
  const Status done = system.delete_folder(name);
  folders += !done.ok();
  note(done);
  return first;
}

Status match(FileSystem& system, const std::string& done, std::string_view rest, std::vector<std::string>& found) {
  while (rest.starts_with('/')) rest.remove_prefix(1);
  const size_t slash = rest.find('/');
  const std::string part(rest.substr(0, slash));
  WEFT_ASSIGN(std::vector<std::string> inside, system.children(done + "/"));
  for (std::string child : inside) {
    if (child.ends_with('/')) child.pop_back();
    if (::fnmatch(part.c_str(), child.c_str(), FNM_PATHNAME) != 0) continue;
    const std::string path = done + "/" + child;
    if (slash == rest.npos) {
      found.push_back(path);
      continue;
    }
    WEFT_ASSIGN(FileInfo info, system.stat(path));
    if (info.is_directory) WEFT_RETURN_IF_ERROR(match(system, path, rest.substr(slash + 1), found));
  }
  return {};
}

}  // namespace

Status FileSystem::delete_recursively(const std::string& name, int64_t& files, int64_t& folders) {
  files = folders = 0;
  return delete_all(*this, name, files, folders, kMostFolders);
}

Result<std::vector<std::string>> FileSystem::match_by_component(const std::string& pattern) {
  const Uri uri = parse_uri(pattern);
  std::vector<std::string> found;
  WEFT_RETURN_IF_ERROR(match(*this, pattern.substr(0, pattern.size() - uri.path.size()), uri.path, found));
  return found;
}

Status io_error(std::string_view path, int error) {
  return Status(code_of(error), cat(path, "; ", std::strerror(error))).with_payload(kNoteFile, std::string(path));
}

}  // namespace weft_engine::core
