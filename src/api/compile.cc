#include "aot/aot.h"
#include "core/cat.h"
#include "wire/file.h"
#include "wire/new_file.h"

#include "api/model_internal.h"
#include "weft/compile.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

extern char** environ;

namespace weft {
namespace {

namespace aot = weft_engine::aot;
using core::cat;

void run(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (std::string& s : command) argv.push_back(s.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  int code = posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ);
  if (code == 0 && waitpid(child, &code, 0) == child && WIFEXITED(code) && WEXITSTATUS(code) == 0) return;
  throw Error(Code::kFailedPrecondition, cat("`", command[0], "` could not make ", command.back(), "; is it installed?"));
}

aot::Options engine_options(const CompileOptions& o) {
  aot::Options a;
  for (const auto& f : o.functions) a.functions.push_back({f.name, f.signature, f.feeds, f.fetches, f.targets});
  for (const auto& [name, shape] : o.shapes) a.shapes[name] = api::inner_shape(shape);
  a.config = o.config;
  a.kept = o.keep;
  a.class_name = o.class_name;
  a.code.triple = o.target_triple;
  a.code.cpu = o.target_cpu;
  a.code.features = o.target_features;
  a.gpu = o.emit == "ptx";
  a.threads = a.gpu ? 1 : o.parts;
  return a;
}

}  // namespace

CompileReport compile(const Model& model, const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  saved_model::Model& inner = api::model_of(model);
  aot::Options o = engine_options(options);
  if (options.emit.empty() && options.output.empty()) throw Error(Code::kInvalidArgument, "say where the files go: -o DIR/net");
  const aot::Net net = api::unwrap(aot::build(inner, o));

  CompileReport report;
  for (const auto& f : net.functions) {
    report.functions.push_back(f.name);
    for (const auto& p : f.inputs) report.ports.push_back({f.name, p.name, p.identifier, p.type.to_string(), false});
    for (const auto& p : f.outputs) report.ports.push_back({f.name, p.name, p.identifier, p.type.to_string(), true});
    for (const ir::Instr* c : f.plan.constants) report.weight_bytes += int64_t(c->literal.byte_size());
  }
  for (const auto& v : net.variables) report.states.push_back(v.name);
  report.frozen = net.frozen;
  report.state_bytes = net.state_bytes;
  report.weight_bytes += int64_t(net.initial.size());

  if (options.emit == "ir" || options.emit == "plan") {
    for (const auto& f : net.functions) report.text += options.emit == "ir" ? ir::print(*f.module) : compiler::print(f.plan);
    return report;
  }
  if (!options.emit.empty()) {
    if (options.emit == "ptx") {
      report.text = api::unwrap(aot::emit_ptx(net));
      return report;
    }
    if (options.emit != "llvm" && options.emit != "asm")
      throw Error(Code::kInvalidArgument, cat("--emit is ir, plan, llvm, asm or ptx, not '", options.emit, "'"));
    o.code.emit = options.emit == "llvm" ? compiler::CodegenOptions::Emit::kLlvm : compiler::CodegenOptions::Emit::kAssembly;
    report.text = api::unwrap(aot::emit(net, o.code));
    return report;
  }

  const std::string object = api::unwrap(aot::emit(net, o.code));
  const std::string base = options.output.substr(options.output.find_last_of('/') + 1);
  if (base.empty()) throw Error(Code::kInvalidArgument, cat("'", options.output, "' names a folder; give DIR/net"));
  auto write = [&](const std::string& path, const std::string& contents) {
    api::check(wire::write_file(path, contents));
    report.files.push_back(path);
  };
  // What other programs write appears when it is complete, too.
  auto make = [&](const char* suffix, const auto& program) {
    const std::string path = api::unwrap(wire::local_path(options.output + suffix));
    wire::remove_abandoned_of(path);
    const wire::TempFolder temp = api::unwrap(wire::TempFolder::create(path));
    program(cat(temp.path(), "/", base, suffix));
    api::check(wire::rename_file(cat(temp.path(), "/", base, suffix), path));
    report.files.push_back(options.output + suffix);
  };
  write(options.output + ".o", object);
  write(options.output + ".h", aot::cpp_header(net, base));
  write(options.output + "_c.h", aot::c_header(net, base));
  write(options.output + ".cmake", aot::cmake_snippet(net, base));
  if (options.archive) {
    make(".a", [&](const std::string& made) { run({"ar", "rcs", made, options.output + ".o"}); });
  }
  if (options.shared) {
    make(".so", [&](const std::string& made) { run({"cc", "-shared", options.output + ".o", "-lm", "-o", made}); });
  }
  report.object_bytes = int64_t(object.size());
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.check) {
    for (auto& line : api::unwrap(aot::check(inner, net, options.check_size, 3)))
      report.check.push_back({line.function, line.output, line.difference, line.largest, line.agrees});
  }
  return report;
}

}  // namespace weft
