#include "wire/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "wire/new_file.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

Descriptor& Descriptor::operator=(Descriptor&& o) noexcept {
  if (this != &o) {
    close();
    fd_ = o.release();
  }
  return *this;
}

void Descriptor::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<std::string> path_of(std::string_view name) {
  WEFT_ASSIGN(Place place, locate(name));
  return std::move(place.path);
}

Result<std::string> local_path(std::string_view name) {
  WEFT_ASSIGN(Place place, locate(name));
  if (!place.local) return unimplemented("This file must lie on this machine, not on another file system: '", name, "'");
  return std::move(place.path);
}

Result<std::unique_ptr<RandomAccessFile>> open_to_read(const std::string& name, int64_t& size) {
  WEFT_ASSIGN(Place place, locate(name));
  WEFT_ASSIGN(std::unique_ptr<RandomAccessFile> file, place.system.open(place.path));
  WEFT_ASSIGN(size, file->size());
  return file;
}

Status read_at(const RandomAccessFile& file, int64_t offset, void* to, size_t n) {
  WEFT_ASSIGN(size_t got, file.read(uint64_t(offset), to, n));
  return got < n ? out_of_range("Read less bytes than requested") : Status();
}

Result<std::unique_ptr<WritableFile>> open_to_write(const std::string& name) {
  WEFT_ASSIGN(Place place, locate(name));
  return place.system.create(place.path);
}

Result<std::unique_ptr<WritableFile>> open_to_append(const std::string& name) {
  WEFT_ASSIGN(Place place, locate(name));
  return place.system.append_to(place.path);
}

Status read_file(std::string name, std::string& out, size_t most) {
  while (name.size() > 1 && name.ends_with('/') && !name.ends_with("://")) name.pop_back();
  WEFT_ASSIGN(Place place, locate(name));
  WEFT_ASSIGN(std::unique_ptr<RandomAccessFile> file, place.system.open(place.path));
  const auto too_large = [&] { return resource_exhausted(place.path, " is larger than ", most, " bytes"); };
  constexpr size_t kStep = 1 << 16;
  // The size is a guess: files that the system makes up (/proc) have none.
  const Result<int64_t> size = file->size();
  if (size.ok() && *size > 0 && uint64_t(*size) > most) return too_large();
  size_t n = 0;
  out.resize(size.ok() && *size > 0 ? size_t(*size) + 1 : kStep);
  while (true) {
    WEFT_ASSIGN(size_t got, file->read(n, out.data() + n, out.size() - n));
    n += got;
    if (n > most) return too_large();
    if (n < out.size()) break;
    out.resize(out.size() + std::max(kStep, out.size() / 2));
  }
  out.resize(n);
  return {};
}

bool file_exists(const std::string& name) {
  const auto place = locate(name);
  return place.ok() && place->system.stat(place->path).ok();
}

bool is_folder(const std::string& name) {
  const auto place = locate(name);
  if (!place.ok()) return false;
  const auto info = place->system.stat(place->path);
  return info.ok() && info->is_directory;
}

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return {};
  if (slash >= 2 && path.substr(slash - 2, 3) == "://") return path.substr(0, slash + 1);  // the root of a scheme
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

Status create_folders(const std::string& name) {
  WEFT_ASSIGN(Place place, locate(name));
  return place.system.create_folders(place.path);
}

Status delete_file(const std::string& name) {
  WEFT_ASSIGN(Place place, locate(name));
  return place.system.delete_file(place.path);
}

Status delete_recursively(const std::string& name) {
  WEFT_ASSIGN(Place place, locate(name));
  int64_t files = 0, folders = 0;
  return place.system.delete_recursively(place.path, files, folders);
}

Status rename_file(const std::string& from, const std::string& to) {
  WEFT_ASSIGN(Place a, locate(from));
  WEFT_ASSIGN(Place b, locate(to));
  if (&a.system != &b.system) return unimplemented("Renaming ", from, " to ", to, " not implemented");
  return a.system.rename(a.path, b.path);
}

Status copy_file(const std::string& from, const std::string& to) {
  WEFT_ASSIGN(Place source, locate(from));
  WEFT_ASSIGN(std::unique_ptr<RandomAccessFile> in, source.system.open(source.path));
  WEFT_ASSIGN(std::unique_ptr<WritableFile> out, open_to_write(to));
  std::string bytes(1 << 20, '\0');
  for (uint64_t at = 0;;) {
    WEFT_ASSIGN(size_t got, in->read(at, bytes.data(), bytes.size()));
    WEFT_RETURN_IF_ERROR(out->append(std::string_view(bytes).substr(0, got)));
    if (got < bytes.size()) return out->close();
    at += got;
  }
}

namespace {

Status write_in_place(WritableFile& file, std::string_view contents) {
  WEFT_RETURN_IF_ERROR(file.append(contents));
  return file.close();
}

// The contents go to a file beside the old one, which then takes its name; a link stays, and what it leads to is replaced. What is not a plain file
// (a pipe, a device) is written in place.
Status write_local(std::string path, std::string_view contents) {
  WEFT_RETURN_IF_ERROR(follow_links(path));
  const size_t slash = path.rfind('/');
  struct stat info;
  if (slash != path.npos && slash > 0 && ::stat(path.substr(0, slash).c_str(), &info) != 0)
    WEFT_RETURN_IF_ERROR(create_folders(path.substr(0, slash)));
  const bool exists = ::lstat(path.c_str(), &info) == 0;
  if (path.empty()) return io_error(path, ENOENT);
  if (path.back() == '/' || (exists && S_ISDIR(info.st_mode))) return io_error(path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    WEFT_ASSIGN(std::unique_ptr<WritableFile> file, local_file_system().create(path));
    return write_in_place(*file, contents);
  }
  WEFT_ASSIGN(NewFile file, NewFile::create(path));
  if (exists) file.set_mode(info.st_mode & 07777);
  WEFT_RETURN_IF_ERROR(file.write(contents));
  return file.publish();
}

}  // namespace

Status write_file(const std::string& name, std::string_view contents) {
  WEFT_ASSIGN(Place place, locate(name));
  if (place.local) return write_local(place.path, contents);
  // The folder, with its scheme; a file right under the host has none to make.
  const std::string folder(folder_of(place.path));
  if (!folder.ends_with("://")) WEFT_RETURN_IF_ERROR(place.system.create_folders(folder));
  return replace_file(place.path, contents);
}

Result<std::vector<std::string>> children_of(const std::string& folder) {
  WEFT_ASSIGN(Place place, locate(folder));
  return place.system.children(place.path);
}

Result<std::vector<std::string>> match_paths(std::string_view pattern) {
  WEFT_ASSIGN(Place place, locate(pattern));
  return place.system.matching(place.path);
}

}  // namespace weft_engine::wire
