#include "runtime/function_text.h"

#include <map>

#include "op/function_text.h"
#include "runtime/function_runtime.h"

namespace weft_engine::runtime {

namespace {

class Describer {
 public:
  explicit Describer(const graph::FunctionLibrary& library) : library_(library) {}

  Result<std::string> describe(const FunctionAttr& root) {
    std::string text = value(root);
    // Functions are found while others are read; each is told once, in the order of its first use.
    for (size_t i = 0; i < found_.size(); ++i) {
      WEFT_ASSIGN(auto def, library_.find(found_[i]));
      add(*def, text);
    }
    return text;
  }

 private:
  std::string value(const FunctionAttr& f) {
    if (!library_.contains(f.name)) return f.name;
    auto [it, fresh] = numbers_.try_emplace(f.name, numbers_.size());
    if (fresh) found_.push_back(f.name);
    std::string out = cat("#", it->second);
    if (f.attrs) out += value(*f.attrs);
    return out;
  }
  std::string value(const AttrMap& attrs) {
    std::string out;
    for (const auto& [name, a] : attrs) {
      if (name.starts_with("_")) continue;  // hints
      out += cat("[", name, "=", value(a), "]");
    }
    return out;
  }
  std::string value(const AttrValue& a) {
    if (const auto* f = a.get<FunctionAttr>()) return value(*f);
    if (const auto* list = a.get<std::vector<FunctionAttr>>()) {
      std::string out;
      for (const FunctionAttr& f : *list) out += value(f) + ",";
      return out;
    }
    return a.to_string();
  }
  void add(const graph::FunctionDef& def, std::string& text) {
    text += "\nfunction";
    for (const auto& arg : def.inputs) text += cat(" ", arg.name, ":", arg.type);
    for (const auto& node : def.nodes) {
      text += cat("\n", node.name, "=", value(FunctionAttr{node.op, nullptr}), value(node.attrs));
      for (const std::string& input : node.inputs) text += " " + input;
    }
    for (const auto& [output, from] : def.ret) text += cat("\n->", output, "=", from);
  }

  const graph::FunctionLibrary& library_;
  std::map<std::string, size_t, std::less<>> numbers_;
  std::vector<std::string> found_;
};

}  // namespace

void describe_functions() {
  function_describer = [](FunctionCaller& functions, const FunctionAttr& function) -> Result<std::string> {
    auto* runtime = dynamic_cast<FunctionLibraryRuntime*>(&functions);
    if (!runtime) return internal_error("functions of an unknown runtime");
    return Describer(*runtime->library()).describe(function);
  };
}

}  // namespace weft_engine::runtime
