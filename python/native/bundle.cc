// Checkpoint files as Python reads them.
#include "wire/tensor_bundle.h"

#include <nanobind/stl/string.h>

#include "bridge.h"
#include "ops/list/variant_codec.h"
#include "wire/leftovers.h"

namespace weft_engine::python {
namespace {

struct NativeReader {
  std::unique_ptr<wire::BundleReader> reader;
};

nb::list tensors(NativeReader& r, nb::handle keys) {
  std::vector<std::string> names;
  for (nb::handle k : keys) names.push_back(nb::cast<std::string>(nb::str(k)));
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<Tensor> out(names.size());
  check(run_released(true, [&] { return r.reader->lookup_all(views, out, nullptr); }));
  nb::list made;
  for (Tensor& t : out) made.append(nb::steal(wrap(eager::TensorHandle::make(std::move(t), nullptr))));
  return made;
}

}  // namespace

void bind_bundle(nb::module_& m) {
  m.def("remove_checkpoint", [](const std::string& prefix) { wire::remove_checkpoint(prefix); }, "Deletes the files of a checkpoint.");
  m.def(
      "remove_leftovers", [](const std::string& prefix, bool numbered) { wire::remove_leftovers(unwrap(wire::path_of(prefix)), numbered); },
      "Removes what killed writers left of a checkpoint.");
  nb::class_<NativeReader>(m, "BundleReader", "The tensors of a checkpoint by name.")
      .def("__init__", [](NativeReader* self,
                          const std::string& prefix) { new (self) NativeReader{unwrap(wire::open_checkpoint(prefix, ops::variant_codec()))}; })
      .def("keys",
           [](NativeReader& r) {
             nb::list out;
             for (size_t i = 0; i < r.reader->size(); ++i) {
               const std::string_view k = r.reader->key(i);
               if (!k.empty() && k[0] != '\0') out.append(nb::str(k.data(), k.size()));
             }
             return out;
           })
      .def("has", [](NativeReader& r, const std::string& key) { return r.reader->contains(key); })
      .def("dtype", [](NativeReader& r, const std::string& key) { return nb::borrow(dtype_object(unwrap(r.reader->entry(key)).dtype)); })
      .def("shape", [](NativeReader& r, const std::string& key) { return nb::steal(shape_tuple(PartialShape(unwrap(r.reader->entry(key)).shape))); })
      .def("tensors", tensors, nb::arg("keys"), "Eager tensors, read together.");
}

}  // namespace weft_engine::python
