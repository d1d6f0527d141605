// Where the program made each node of a graph: errors of functions tell it.
#include "stacks.h"

#include <nanobind/stl/string.h>

#include <unordered_map>

#include "release.h"

namespace weft_engine::python {
namespace {

using trace::FuncGraph;

struct Frame {
  PyObject* code;  // held
  int at;          // the instruction
};

// Of one graph, by the names of its nodes; lives as long as the graph. All of this is used with the interpreter's lock held.
struct Stacks {
  std::unordered_map<std::string, std::vector<Frame>> nodes;

  Stacks() = default;
  Stacks(const Stacks&) = delete;
  ~Stacks() {
    std::vector<PyObject*> codes;
    for (auto& [name, frames] : nodes) {
      for (const Frame& f : frames) codes.push_back(f.code);
    }
    release(std::move(codes));  // the last function made of the graph may go on any thread
  }
};

std::unordered_map<uint64_t, std::weak_ptr<Stacks>>& tables() {
  static auto* all = new std::unordered_map<uint64_t, std::weak_ptr<Stacks>>;
  return *all;
}

// Where the package is: its frames are not the user's.
const std::string& package_folder() {
  static auto* folder = new std::string([] {
    const std::string file = nb::cast<std::string>(nb::module_::import_("weft").attr("__file__"));
    return file.substr(0, file.rfind('/') + 1);
  }());
  return *folder;
}

bool is_users(PyObject* code) {
  Py_ssize_t size = 0;
  const char* file = PyUnicode_AsUTF8AndSize(reinterpret_cast<PyCodeObject*>(code)->co_filename, &size);
  if (!file) forget_error();
  return file && !std::string_view(file, size_t(size)).starts_with(package_folder());
}

constexpr size_t kDeepest = 64;

std::vector<Frame> user_frames() {
  std::vector<Frame> out;
  for (PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get()); frame;) {
    PyObject* code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
    if (out.size() < kDeepest && is_users(code)) out.push_back({code, PyFrame_GetLasti(frame)});
    else Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return out;
}

}  // namespace

void note_stack(FuncGraph& g, const std::string& node) {
  std::weak_ptr<Stacks>& entry = tables()[g.id()];
  std::shared_ptr<Stacks> table = entry.lock();
  if (!table) {
    std::erase_if(tables(), [&](const auto& item) { return item.first != g.id() && item.second.expired(); });
    table = std::make_shared<Stacks>();
    tables()[g.id()] = table;
    g.hold(table);
  }
  auto [at, fresh] = table->nodes.try_emplace(node);
  if (fresh) at->second = user_frames();
}

nb::list stack_of(FuncGraph& g, const std::string& node) {
  nb::list out;
  auto entry = tables().find(g.id());
  std::shared_ptr<Stacks> table = entry == tables().end() ? nullptr : entry->second.lock();
  if (!table) return out;
  auto found = table->nodes.find(node);
  if (found == table->nodes.end()) return out;
  for (auto f = found->second.rbegin(); f != found->second.rend(); ++f) {
    auto* code = reinterpret_cast<PyCodeObject*>(f->code);
    out.append(nb::make_tuple(nb::borrow(code->co_filename), PyCode_Addr2Line(code, f->at), nb::borrow(code->co_name)));
  }
  return out;
}

}  // namespace weft_engine::python
