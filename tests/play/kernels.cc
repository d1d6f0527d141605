// Writes kernels to be timed on a GPU: the schedules that matter, on large tensors.
//
//   play kernels FOLDER
#include "tests/play/kernels.h"

#include <cstdio>

#include "compiler/codegen.h"
#include "ir/builder.h"
#include "tests/play/play.h"

namespace weft_engine::testing {

using compiler::GpuArg;
using compiler::GpuLaunch;

KernelFiles::KernelFiles(const std::string& folder) : folder_(folder), cases_(folder + "/cases.txt"), data_(folder + "/data.bin", std::ios::binary) {}

int64_t KernelFiles::data(const void* bytes, size_t size) {
  const int64_t at = at_;
  data_.write(static_cast<const char*>(bytes), std::streamsize(size));
  at_ += int64_t(size);
  return at;
}

void KernelFiles::write(const GpuArg& a, const std::vector<int64_t>& symbols) {
  const bool sized = a.kind == GpuArg::Kind::kArena || a.kind == GpuArg::Kind::kSize;
  cases_ << " " << int(a.kind) << " " << (sized ? a.size.evaluate(symbols) : a.index);
}

void KernelFiles::write(const std::vector<GpuLaunch>& launches, const std::vector<int64_t>& symbols) {
  for (const GpuLaunch& l : launches) {
    if (l.kind == GpuLaunch::Kind::kLibrary) {
      write(l.regions[0], symbols);
      continue;
    }
    static constexpr const char* kNames[] = {"kernel", "", "copy", "fill", "while", "if"};
    cases_ << kNames[int(l.kind)];
    if (l.kind == GpuLaunch::Kind::kKernel) cases_ << " " << l.entry << " " << l.blocks.evaluate(symbols) << " " << l.threads;
    else if (l.kind == GpuLaunch::Kind::kCopy || l.kind == GpuLaunch::Kind::kFill) cases_ << " " << l.bytes.evaluate(symbols);
    else cases_ << " " << l.regions.size();
    cases_ << " " << l.args.size();
    for (const GpuArg& a : l.args) write(a, symbols);
    cases_ << "\n";
    for (const auto& r : l.regions) {
      write(r, symbols);
      cases_ << "end\n";
    }
  }
}

core::Status KernelFiles::add(const std::string& name, const ir::Module& m, const std::vector<core::Tensor>& parameters,
                              const std::vector<core::Tensor>& expected, double bytes, double flops) {
  if (!cases_ || !data_) return core::internal_error("cannot write to ", folder_);
  WEFT_ASSIGN(const compiler::Plan plan, compiler::make_plan(m, 0));
  WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
  WEFT_ASSIGN(const compiler::GpuCode code, api->gpu(plan, {}));
  std::vector<int64_t> symbols;
  for (const ir::Symbol& s : m.symbols) symbols.push_back(parameters[size_t(s.parameter)].dim(s.dim));
  const std::string file = core::cat(count_++, ".ptx");
  std::ofstream(folder_ + "/" + file) << code.ptx;
  const auto bytes_of = [&](const ir::Type& t) { return t.elements().evaluate(symbols) * int64_t(core::dtype_size(t.dtype)); };
  cases_ << "case " << name << " " << file << " " << code.arena_bytes.evaluate(symbols) << " " << bytes << " " << flops << "\n";
  for (size_t k = 0; k < m.parameters.size(); ++k) {
    cases_ << "parameter " << bytes_of(m.parameters[k].type) << " "
           << (k < parameters.size() ? data(parameters[k].raw(), parameters[k].byte_size()) : -1) << "\n";
  }
  for (size_t k = 0; k < m.main->results.size(); ++k) {
    const ir::Type& t = m.main->results[k]->type;
    cases_ << "result " << (m.results[k].state >= 0 ? 0 : bytes_of(t)) << " " << core::dtype_name(t.dtype) << " "
           << (k < expected.size() ? data(expected[k].raw(), expected[k].byte_size()) : -1) << "\n";
  }
  for (const ir::Instr* c : plan.constants)
    cases_ << "constant " << c->literal.byte_size() << " " << data(c->literal.raw(), c->literal.byte_size()) << "\n";
  write(code.launches, symbols);
  cases_ << "done\n";
  return {};
}

namespace {

struct Timed {
  std::unique_ptr<ir::Module> m = std::make_unique<ir::Module>();
  ir::Builder b{*m};
  ir::Value in(ir::DType t, std::vector<ir::Dim> dims) {
    return b.parameter({ir::Parameter::Kind::kInput, "x" + std::to_string(m->parameters.size()), {t, std::move(dims)}});
  }
  void out(ir::Value v) {
    m->main->results.push_back(v);
    m->results.push_back({"y", -1});
  }
};

}  // namespace

int play_kernels(const Words& words) {
  if (words.size() != 1) return 2;
  KernelFiles files(words[0]);
  core::Status status;
  const auto add = [&](const std::string& name, double bytes, double flops, const std::function<void(Timed&)>& build) {
    Timed t;
    build(t);
    core::Status s = t.b.status();
    if (s.ok()) s = files.add(name, *t.m, {}, {}, bytes, flops);
    if (!s.ok()) std::printf("%s: %s\n", name.c_str(), s.to_string().c_str());
    if (status.ok()) status = s;
  };
  using ir::DType;
  constexpr int64_t kMega = 1 << 20;
  constexpr double kAll = 64.0 * kMega * 4;
  add("add", 3 * kAll, 0, [](Timed& t) { t.out(t.b.add(t.in(DType::kFloat, {64 * kMega}), t.in(DType::kFloat, {64 * kMega}))); });
  add("add_half", 3 * kAll / 2, 0, [](Timed& t) { t.out(t.b.add(t.in(DType::kHalf, {64 * kMega}), t.in(DType::kHalf, {64 * kMega}))); });
  add("bias_tanh", 2 * kAll, 0, [](Timed& t) {
    ir::Value x = t.in(DType::kFloat, {64 * 1024, 1024});
    t.out(t.b.unary(ir::Unary::kTanh, t.b.add(x, t.b.broadcast_to(t.in(DType::kFloat, {1024}), x->type.dims))));
  });
  add("sum_all", kAll, 0, [](Timed& t) { t.out(t.b.sum(t.in(DType::kFloat, {64 * kMega}), {0})); });
  add("sum_rows_1024", kAll, 0, [](Timed& t) { t.out(t.b.sum(t.in(DType::kFloat, {64 * 1024, 1024}), {1})); });
  add("sum_rows_64", kAll, 0, [](Timed& t) { t.out(t.b.sum(t.in(DType::kFloat, {kMega, 64}), {1})); });
  add("sum_rows_long", kAll, 0, [](Timed& t) { t.out(t.b.sum(t.in(DType::kFloat, {64, kMega}), {1})); });
  add("sum_columns", kAll, 0, [](Timed& t) { t.out(t.b.sum(t.in(DType::kFloat, {64 * 1024, 1024}), {0})); });
  add("argmax_rows", kAll, 0, [](Timed& t) { t.out(t.b.arg_reduce(ir::Reduce::kMax, t.in(DType::kFloat, {64 * 1024, 1024}), 1, DType::kInt64)); });
  add("transpose", 2 * kAll, 0, [](Timed& t) { t.out(t.b.transpose(t.in(DType::kFloat, {8192, 8192}), {1, 0})); });
  add("transpose_batch", 2 * kAll, 0, [](Timed& t) { t.out(t.b.transpose(t.in(DType::kFloat, {64, 1024, 1024}), {0, 2, 1})); });
  add("softmax", 2 * kAll, 0, [](Timed& t) {
    ir::Value x = t.in(DType::kFloat, {64 * 1024, 1024});
    ir::Value e = t.b.unary(ir::Unary::kExp, t.b.sub(x, t.b.broadcast_to(t.b.reduce(ir::Reduce::kMax, x, {1}, true), x->type.dims)));
    t.out(t.b.div(e, t.b.broadcast_to(t.b.sum(e, {1}, true), x->type.dims)));
  });
  add("cumsum_rows", 2 * kAll, 0, [](Timed& t) { t.out(t.b.scan(ir::Reduce::kSum, t.in(DType::kFloat, {64 * 1024, 1024}), 1, false, false)); });
  add("cumsum_4096", 2 * kAll, 0, [](Timed& t) { t.out(t.b.scan(ir::Reduce::kSum, t.in(DType::kFloat, {4096, 16384}), 1, false, false)); });
  add("sort_1M", 8.0 * kMega, 0, [](Timed& t) { t.out(t.b.sort(t.in(DType::kFloat, {kMega}), false).first); });
  add("dot_4096", 0, 2.0 * 4096 * 4096 * 4096,
      [](Timed& t) { t.out(t.b.dot(t.in(DType::kFloat, {4096, 4096}), t.in(DType::kFloat, {4096, 4096}))); });
  add("dot_vector", kAll, 0, [](Timed& t) { t.out(t.b.dot(t.in(DType::kFloat, {1, 8192}), t.in(DType::kFloat, {8192, 8192}))); });
  std::printf("%d kernels\n", files.count());
  return status.ok() ? 0 : 1;
}

}  // namespace weft_engine::testing
