#include "cli/commands.h"

namespace weft::cli {

Model load_model(const LoadArgs& args) {
  LoadOptions o;
  o.tags = args.tags;
  o.intra_threads = o.inter_threads = args.threads;
  o.cpu_devices = args.devices;
  o.disabled_passes = args.disable;
  o.verify = args.verify;
  o.jit_compile = args.jit;
  Model model = load(args.path, o);
  if (!args.init.empty()) model.run({}, {}, args.init);
  return model;
}

std::string choose_signature(const Model& model, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const auto& all = model.signatures();
  if (all.size() == 1) return all[0].name;
  for (const auto& s : all) {
    if (s.name == "serving_default") return s.name;
  }
  std::string there;
  for (const auto& s : all) there += (there.empty() ? "" : ", ") + s.name;
  throw Error(Code::kInvalidArgument,
              all.empty() ? "the model has no signatures; `weft show` lists what it has" : "which signature? Add --signature with one of: " + there);
}

}  // namespace weft::cli
