#include <cstdio>
#include <iostream>

#include "cli/commands.h"
#include "cli/text.h"
#include "weft/compile.h"

namespace weft::cli {
namespace {

// "x=?,28,28"
std::pair<std::string, PartialShape> shape_of(const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) throw Error(Code::kInvalidArgument, "--shape is NAME=DIMS, as in x=?,28,28; not '" + text + "'");
  std::vector<int64_t> dims;
  std::string rest = text.substr(at + 1);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string one = rest.substr(0, comma);
    char* end = nullptr;
    dims.push_back(one == "?" ? -1 : std::strtoll(one.c_str(), &end, 10));
    if (end && (*end || dims.back() < -1)) throw Error(Code::kInvalidArgument, "'" + one + "' in --shape " + text + " is not a size");
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return {text.substr(0, at), PartialShape(dims)};
}

}  // namespace

int compile(const CompileArgs& args) {
  CompileOptions o;
  o.output = args.output;
  o.class_name = args.class_name;
  for (const auto& s : args.signatures) o.functions.push_back({s, s, {}, {}, {}});
  if (!args.fetches.empty() || !args.targets.empty()) o.functions.push_back({"", "", args.feeds, args.fetches, args.targets});
  for (const auto& s : args.shapes) o.shapes.insert(shape_of(s));
  o.config = args.config;
  o.keep = args.keep;
  o.target_triple = args.triple;
  o.target_cpu = args.cpu;
  if (args.cpu.empty() && args.triple.empty()) {  // of another machine: what is usual there
#if defined(__x86_64__)
    o.target_cpu = "x86-64-v3";
#else
    o.target_cpu = "generic";
#endif
  }
  o.target_features = args.features;
  o.parts = args.parts;
  o.emit = args.emit;
  o.archive = args.archive;
  o.shared = args.shared;
  o.check = args.check;
  o.check_size = args.check_size;
  const CompileReport r = weft::compile(load_model(args.load), o);
  if (!args.emit.empty()) {
    std::cout << r.text;
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& p : r.ports) rows.push_back({p.function, p.is_output ? "out" : "in", p.identifier, p.type, p.identifier == p.name ? "" : p.name});
  std::cout << "class " << args.class_name << "\n" << table({"", "", "", "", ""}, rows);
  std::cout << "variables: " << r.states.size() << " as state (" << human_bytes(double(r.state_bytes)) << "), " << r.frozen.size() << " frozen\n";
  std::cout << "object: " << human_bytes(double(r.object_bytes)) << ", of which weights " << human_bytes(double(r.weight_bytes)) << "; compiled in "
            << human_time(r.seconds) << "\n";
  for (const auto& f : r.files) std::cout << "  " << f << "\n";
  bool good = true;
  for (const auto& c : r.check) {
    char line[64];
    std::snprintf(line, sizeof line, "largest difference %.3g of %.3g", c.difference, c.largest);
    std::cout << "check " << c.function << " " << c.output << ": " << (c.agrees ? "agrees" : "DIFFERS") << ", " << line << "\n";
    good = good && c.agrees;
  }
  return good ? 0 : 1;
}

}  // namespace weft::cli
