// File systems from plugins: TF_RegisterFilesystemPlugin loads a library, lets it fill its tables of functions
// (filesystem_interface.h), checks them as TensorFlow does, and serves each of its URI schemes from then on.
#include <dlfcn.h>

#include <cstring>
#include <filesystem>

#include "capi/internal.h"
#include "core/file_system.h"
#include "core/log.h"
#include "tensorflow/c/experimental/filesystem/filesystem_interface.h"

using namespace weft_engine::capi;  // NOLINT

namespace {

using weft_engine::core::FileInfo;
using weft_engine::core::WritableFile;

constexpr size_t kMostBytes = size_t(1) << 40;  // a size beyond this is a plugin gone wrong

// The tables as the library knows them: what an older plugin lacks is null, what a newer one adds is dropped.
template <class T>
T copied(const T* table, size_t plugin_size) {
  T out{};
  if (table) std::memcpy(&out, table, std::min(plugin_size, sizeof(T)));
  return out;
}

struct Tables {
  TF_FilesystemOps fs;
  TF_RandomAccessFileOps reading;
  TF_WritableFileOps writing;
  void (*free)(void*);
};

class PluginWritableFile : public WritableFile {
 public:
  PluginWritableFile(std::string name, const Tables& t) : name_(std::move(name)), t_(t) {}
  ~PluginWritableFile() override {
    if (open_) t_.writing.cleanup(&file_);
  }
  TF_WritableFile* open() {
    open_ = true;
    return &file_;
  }
  Status append(std::string_view bytes) override {
    TF_Status s;
    if (!t_.writing.append) return unimplemented("Append() not implemented for ", name_);
    t_.writing.append(&file_, bytes.data(), bytes.size(), &s);
    return s.status;
  }
  Status flush() override { return call(t_.writing.flush); }  // may be missing: then there is nothing to flush
  Status sync() override { return call(t_.writing.sync ? t_.writing.sync : t_.writing.flush); }
  Result<int64_t> tell() override {
    if (!t_.writing.tell) return unimplemented("Tell() not implemented for ", name_);
    TF_Status s;
    const int64_t at = t_.writing.tell(&file_, &s);
    if (!s.status.ok()) return s.status;
    return at;
  }
  Status close() override {
    WEFT_RETURN_IF_ERROR(flush());
    if (!t_.writing.close) return unimplemented("Close() not implemented for ", name_);
    return call(t_.writing.close);
  }

 private:
  Status call(void (*f)(const TF_WritableFile*, TF_Status*)) {
    TF_Status s;
    if (f) f(&file_, &s);
    return s.status;
  }
  std::string name_;
  const Tables& t_;
  TF_WritableFile file_{};
  bool open_ = false;
};

class PluginRandomAccessFile : public weft_engine::core::RandomAccessFile {
 public:
  PluginRandomAccessFile(std::string name, const Tables& t, weft_engine::core::FileSystem& system, TF_RandomAccessFile file)
      : name_(std::move(name)), t_(t), system_(system), file_(file) {}
  ~PluginRandomAccessFile() override { t_.reading.cleanup(&file_); }
  Result<size_t> read(uint64_t offset, void* to, size_t n) const override {
    char* at = static_cast<char*>(to);
    size_t done = 0;
    while (done < n) {
      TF_Status s;
      const int64_t got = t_.reading.read(&file_, offset + done, n - done, at + done, &s);
      const bool end = s.status.code() == Code::kOutOfRange;
      if (!s.status.ok() && !end) return s.status;
      if (got < 0 || size_t(got) > n - done) return data_loss("The plugin for ", name_, " read ", got, " bytes where ", n - done, " were wanted");
      done += size_t(got);
      if (end || got == 0) break;
    }
    return done;
  }
  Result<int64_t> size() const override {
    WEFT_ASSIGN(FileInfo info, system_.stat(name_));
    if (info.size < 0 || uint64_t(info.size) > kMostBytes) return data_loss("The plugin for ", name_, " reports a size of ", info.size, " bytes");
    return info.size;
  }

 private:
  const std::string name_;
  const Tables& t_;
  weft_engine::core::FileSystem& system_;
  mutable TF_RandomAccessFile file_;
};

class PluginFileSystem : public weft_engine::core::FileSystem {
 public:
  explicit PluginFileSystem(const Tables& tables) : t_(tables) {}
  ~PluginFileSystem() override {
    if (ready_) t_.fs.cleanup(&system_);
  }
  Status init() {
    TF_Status s;
    t_.fs.init(&system_, &s);
    ready_ = s.status.ok();
    return s.status;
  }

  Result<std::unique_ptr<weft_engine::core::RandomAccessFile>> open(const std::string& name) override {
    if (!t_.fs.new_random_access_file) return missing(name, "NewRandomAccessFile");
    if (!t_.reading.read) return unimplemented("Read() not implemented for ", name);
    TF_Status s;
    TF_RandomAccessFile file{};
    t_.fs.new_random_access_file(&system_, translated(name).c_str(), &file, &s);
    if (!s.status.ok()) return s.status;
    return std::unique_ptr<weft_engine::core::RandomAccessFile>(std::make_unique<PluginRandomAccessFile>(name, t_, *this, file));
  }

  Result<std::unique_ptr<WritableFile>> create(const std::string& name) override {
    if (!t_.fs.new_writable_file) return missing(name, "NewWritableFile");
    return open_to_write(name, t_.fs.new_writable_file);
  }
  Result<std::unique_ptr<WritableFile>> append_to(const std::string& name) override {
    if (!t_.fs.new_appendable_file) return missing(name, "NewAppendableFile");
    return open_to_write(name, t_.fs.new_appendable_file);
  }

  Result<FileInfo> stat(const std::string& name) override {
    if (!t_.fs.stat) return missing(name, "Stat");
    TF_Status s;
    TF_FileStatistics stats{};
    t_.fs.stat(&system_, translated(name).c_str(), &stats, &s);
    if (!s.status.ok()) return s.status;
    return FileInfo{stats.length, stats.mtime_nsec, stats.is_directory};
  }

  Result<std::vector<std::string>> children(const std::string& folder) override {
    if (!t_.fs.get_children) return missing(folder, "GetChildren");
    return names([&](char*** entries, TF_Status* s) { return t_.fs.get_children(&system_, translated(folder).c_str(), entries, s); });
  }

  Result<std::vector<std::string>> matching(const std::string& pattern) override {
    if (t_.fs.get_matching_paths)
      return names([&](char*** entries, TF_Status* s) { return t_.fs.get_matching_paths(&system_, pattern.c_str(), entries, s); });
    return match_by_component(pattern);
  }

  Status create_folder(const std::string& name) override { return on(name, t_.fs.create_dir, "CreateDir"); }
  Status create_folders(const std::string& name) override {
    if (t_.fs.recursively_create_dir) return on(name, t_.fs.recursively_create_dir, "RecursivelyCreateDir");
    const auto uri = weft_engine::core::parse_uri(name);
    const size_t root = name.size() - uri.path.size();
    for (size_t at = root; at < name.size();) {
      at = std::min(name.find('/', at + 1), name.size());
      const Status made = create_folder(name.substr(0, at));
      if (!made.ok() && made.code() != Code::kAlreadyExists) return made;
    }
    return {};
  }
  Status delete_file(const std::string& name) override { return on(name, t_.fs.delete_file, "DeleteFile"); }
  Status delete_folder(const std::string& name) override { return on(name, t_.fs.delete_dir, "DeleteDir"); }
  Status delete_recursively(const std::string& name, int64_t& files, int64_t& folders) override {
    if (!t_.fs.delete_recursively) return FileSystem::delete_recursively(name, files, folders);
    TF_Status s;
    uint64_t left_files = 0, left_folders = 0;
    t_.fs.delete_recursively(&system_, translated(name).c_str(), &left_files, &left_folders, &s);
    files = int64_t(left_files);
    folders = int64_t(left_folders);
    return s.status;
  }

  bool can_rename() const override { return t_.fs.rename_file != nullptr; }
  Status rename(const std::string& from, const std::string& to) override {
    if (!t_.fs.rename_file) return missing(from, "RenameFile");
    TF_Status s;
    t_.fs.rename_file(&system_, translated(from).c_str(), translated(to).c_str(), &s);
    return s.status;
  }

 private:
  Result<std::unique_ptr<WritableFile>> open_to_write(const std::string& name,
                                                      void (*f)(const TF_Filesystem*, const char*, TF_WritableFile*, TF_Status*)) {
    TF_Status s;
    auto file = std::make_unique<PluginWritableFile>(name, t_);
    TF_WritableFile opened{};
    f(&system_, translated(name).c_str(), &opened, &s);
    if (!s.status.ok()) return s.status;
    *file->open() = opened;
    return std::unique_ptr<WritableFile>(std::move(file));
  }
  static Status missing(const std::string& name, const char* function) {
    return unimplemented("Filesystem for ", name, " does not support ", function, "()");
  }
  Status on(const std::string& name, void (*f)(const TF_Filesystem*, const char*, TF_Status*), const char* function) {
    if (!f) return missing(name, function);
    TF_Status s;
    f(&system_, translated(name).c_str(), &s);
    return s.status;
  }

  // What the plugin calls the file: by its own function, else the path behind scheme and host.
  std::string translated(const std::string& name) const {
    if (t_.fs.translate_name) {
      char* given = t_.fs.translate_name(&system_, name.c_str());
      if (!given) return name;
      std::string out = given;
      t_.free(given);
      return out;
    }
    const auto path = weft_engine::core::parse_uri(name).path;
    if (path.empty()) return "/";
    std::string clean = std::filesystem::path(path).lexically_normal().string();
    if (clean.size() > 1 && clean.back() == '/') clean.pop_back();
    return clean;
  }

  // A list of strings that the plugin made.
  template <class F>
  Result<std::vector<std::string>> names(F&& f) {
    TF_Status s;
    char** entries = nullptr;
    const int n = f(&entries, &s);
    std::vector<std::string> out;
    if (n >= 0 && entries) {
      for (int i = 0; i < n; ++i) {
        if (!entries[i]) continue;
        out.emplace_back(entries[i]);
        t_.free(entries[i]);
      }
      t_.free(entries);
    }
    if (!s.status.ok()) return s.status;
    return out;
  }

  Tables t_;
  TF_Filesystem system_{};
  bool ready_ = false;
};

// ---- Registration ----

Status check_abi(int plugin, int ours, const char* where) {
  if (plugin == ours) return {};
  return failed_precondition("Plugin ABI (", plugin, ") for ", where, " operations doesn't match expected core ABI (", ours,
                             "). Plugin cannot be loaded.");
}
void check_api(int plugin, int ours, const char* where) {
  if (plugin == ours) return;
  log(LogLevel::kWarning, cat("Plugin API (", plugin, ") for ", where, " operations doesn't match expected core API (", ours,
                              "). Plugin will be loaded but functionality might be missing."));
}

Status check_versions(const TF_FilesystemPluginOps& o) {
  struct {
    bool there;
    int abi, our_abi, api, our_api;
    const char* name;
  } const tables[] = {
      {true, o.filesystem_ops_abi, TF_FILESYSTEM_OPS_ABI, o.filesystem_ops_api, TF_FILESYSTEM_OPS_API, "filesystem"},
      {o.random_access_file_ops != nullptr, o.random_access_file_ops_abi, TF_RANDOM_ACCESS_FILE_OPS_ABI, o.random_access_file_ops_api,
       TF_RANDOM_ACCESS_FILE_OPS_API, "random access file"},
      {o.writable_file_ops != nullptr, o.writable_file_ops_abi, TF_WRITABLE_FILE_OPS_ABI, o.writable_file_ops_api, TF_WRITABLE_FILE_OPS_API,
       "writable file"},
      {o.read_only_memory_region_ops != nullptr, o.read_only_memory_region_ops_abi, TF_READ_ONLY_MEMORY_REGION_OPS_ABI,
       o.read_only_memory_region_ops_api, TF_READ_ONLY_MEMORY_REGION_OPS_API, "read only memory region"},
  };
  for (const auto& t : tables)
    if (t.there) WEFT_RETURN_IF_ERROR(check_abi(t.abi, t.our_abi, t.name));
  for (const auto& t : tables)
    if (t.there) check_api(t.api, t.our_api, t.name);
  return {};
}

Status check_functions(const TF_FilesystemPluginOps& o) {
  auto without = [](const char* what) { return failed_precondition("Trying to register filesystem without ", what); };
  if (!o.filesystem_ops) return without("operations");
  const auto fs = copied(o.filesystem_ops, o.filesystem_ops_size);
  const auto reading = copied(o.random_access_file_ops, o.random_access_file_ops_size);
  const auto writing = copied(o.writable_file_ops, o.writable_file_ops_size);
  const auto region = copied(o.read_only_memory_region_ops, o.read_only_memory_region_ops_size);
  if (!fs.init) return without("`init` operation");
  if (!fs.cleanup) return without("`cleanup` operation");
  if (o.random_access_file_ops && !reading.cleanup) return without("`cleanup` operation on random access files");
  if (o.writable_file_ops && !writing.cleanup) return without("`cleanup` operation on writable files");
  if (o.read_only_memory_region_ops) {
    if (!region.cleanup) return without("`cleanup` operation on read only memory regions");
    if (!region.data) return without("`data` operation on read only memory regions");
    if (!region.length) return without("`length` operation on read only memory regions");
  }
  auto bare = [](const char* what) {
    return failed_precondition("Filesystem allows creation of ", what, " but no operations on them have been supplied.");
  };
  if (fs.new_random_access_file && !o.random_access_file_ops) return bare("random access files");
  if ((fs.new_writable_file || fs.new_appendable_file) && !o.writable_file_ops) return bare("writable files");
  if (fs.new_read_only_memory_region_from_file && !o.read_only_memory_region_ops) return bare("readonly memory regions");
  return {};
}

Status register_scheme(const TF_FilesystemPluginOps& o, void (*free)(void*)) {
  if (!o.scheme) return invalid_argument("Attempted to register filesystem with `nullptr` URI scheme");
  WEFT_RETURN_IF_ERROR(check_versions(o));
  WEFT_RETURN_IF_ERROR(check_functions(o));
  auto system = std::make_unique<PluginFileSystem>(Tables{copied(o.filesystem_ops, o.filesystem_ops_size),
                                                          copied(o.random_access_file_ops, o.random_access_file_ops_size),
                                                          copied(o.writable_file_ops, o.writable_file_ops_size), free});
  WEFT_RETURN_IF_ERROR(system->init());
  return weft_engine::core::register_file_system(o.scheme, std::move(system));
}

// As many schemes as can be; the first error is told.
Status register_all(const TF_FilesystemPluginInfo& info) {
  if (!info.plugin_memory_allocate) return failed_precondition("Cannot load filesystem plugin which does not provide `plugin_memory_allocate`");
  if (!info.plugin_memory_free) return failed_precondition("Cannot load filesystem plugin which does not provide `plugin_memory_free`");
  if (info.num_schemes && !info.ops) return failed_precondition("Trying to register filesystem without operations");
  Status first;
  for (size_t i = 0; i < info.num_schemes; ++i) {
    const TF_FilesystemPluginOps& o = info.ops[i];
    Status status = register_scheme(o, info.plugin_memory_free);
    if (first.ok()) first = std::move(status);
    for (void* p : {static_cast<void*>(o.scheme), static_cast<void*>(o.filesystem_ops), static_cast<void*>(o.random_access_file_ops),
                    static_cast<void*>(o.writable_file_ops), static_cast<void*>(o.read_only_memory_region_ops)})
      info.plugin_memory_free(p);
  }
  info.plugin_memory_free(info.ops);
  return first;
}

}  // namespace

void TF_RegisterFilesystemPlugin(const char* plugin_filename, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(plugin_filename);
    void* library = dlopen(plugin_filename, RTLD_NOW | RTLD_LOCAL);  // kept: its functions stay in use
    if (!library) return not_found(dlerror());
    auto init = reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(dlsym(library, "TF_InitPlugin"));
    if (!init) return not_found(dlerror(), "\n\tFailed to load TF_InitPlugin symbol for DSO: ", plugin_filename);
    TF_FilesystemPluginInfo info{};
    init(&info);
    return register_all(info);
  });
}
