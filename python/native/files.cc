// tf.io.gfile's way through the one interface to files (core/file_system.h).
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bridge.h"
#include "core/file_system.h"
#include "wire/file.h"

namespace weft_engine::python {
namespace {

using core::Place;
using core::RandomAccessFile;
using core::WritableFile;

nb::bytes read(const RandomAccessFile& file, uint64_t offset, size_t n) {
  std::string out(n, '\0');
  core::Result<size_t> got = 0;
  {
    const Released released(true);
    got = file.read(offset, out.data(), n);
  }
  return nb::bytes(out.data(), unwrap(std::move(got)));
}

void append(WritableFile& file, nb::bytes content) {
  core::Status s;
  {
    const std::string_view view(content.c_str(), content.size());
    const Released released(true);
    s = file.append(view);
  }
  check(s);
}

nb::object stat(const std::string& name) {
  Place place = unwrap(core::locate(name));
  const core::FileInfo info = unwrap(place.system.stat(place.path));
  return nb::make_tuple(info.size, info.mtime_nsec, info.is_directory);
}

bool exists(const std::string& name) {
  Place place = unwrap(core::locate(name));
  const auto info = place.system.stat(place.path);
  if (info.status().code() == core::Code::kUnimplemented) check(info.status());
  return info.ok();
}

void create_folder(const std::string& name) {
  Place place = unwrap(core::locate(name));
  check(place.system.create_folder(place.path));
}

}  // namespace

void bind_files(nb::module_& m) {
  nb::class_<RandomAccessFile>(m, "RandomAccessFile", "A file open for reading.")
      .def("read", read, nb::arg("offset"), nb::arg("n"), "As many of the n bytes at the offset as there are.")
      .def("size", [](const RandomAccessFile& f) { return unwrap(f.size()); });
  nb::class_<WritableFile>(m, "WritableFile", "A file open for writing.")
      .def("append", append)
      .def("flush", [](WritableFile& f) { check(f.flush()); })
      .def("tell", [](WritableFile& f) { return unwrap(f.tell()); })
      .def("close", [](WritableFile& f) { check(f.close()); });
  m.def("file_open", [](const std::string& name) {
    Place place = unwrap(core::locate(name));
    return unwrap(place.system.open(place.path));
  });
  m.def("file_create", [](const std::string& name) { return unwrap(wire::open_to_write(name)); });
  m.def("file_append", [](const std::string& name) { return unwrap(wire::open_to_append(name)); });
  m.def("file_stat", stat, "Size, time of the last change in nanoseconds, whether it is a folder.");
  m.def("file_exists", exists);
  m.def("file_children", [](const std::string& name) { return unwrap(wire::children_of(name)); });
  m.def("file_matching", [](const std::string& pattern) { return unwrap(wire::match_paths(pattern)); });
  m.def("file_delete", [](const std::string& name) { check(wire::delete_file(name)); });
  m.def("file_delete_recursively", [](const std::string& name) { check(wire::delete_recursively(name)); });
  m.def("file_rename", [](const std::string& from, const std::string& to) { check(wire::rename_file(from, to)); });
  m.def("file_copy", [](const std::string& from, const std::string& to) { check(wire::copy_file(from, to)); });
  m.def("folder_create", create_folder);
  m.def("folders_create", [](const std::string& name) { check(wire::create_folders(name)); });
  m.def("file_system_schemes", core::file_system_schemes);

  nb::class_<wire::TempFolder>(m, "TempFolder", "A folder of this process alone beside a file that is being made.")
      .def("__init__",
           [](wire::TempFolder* self, const std::string& target) {
             new (self) wire::TempFolder(unwrap(wire::TempFolder::create(unwrap(wire::path_of(target)))));
           })
      .def_prop_ro("path", [](const wire::TempFolder& f) { return f.path(); })
      .def("remove", &wire::TempFolder::remove);
  m.def("is_local", [](const std::string& name) { return unwrap(core::locate(name)).local; });
}

}  // namespace weft_engine::python
