// Kernels, steps and control.
#include "compiler/llvm/gpu_emitter.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>
#include <functional>

namespace weft_engine::compiler {
namespace {

llvm::Value* stand_in(llvm::IRBuilder<>& b, llvm::Type* t) { return b.Insert(new llvm::FreezeInst(llvm::PoisonValue::get(t))); }

ir::Dim rounded_up(const ir::Dim& bytes) { return ir::ceil_div(bytes, 256) * 256; }

std::string key_of(const GpuArg& a) { return core::cat(int(a.kind), " ", a.index, " ", a.size.to_string()); }

}  // namespace

GpuEmitter::GpuEmitter(llvm::Module& module, const Plan& p, const Target& target)
    : e(module, p, target, options_, "weft"), b(e.b), plan(p), base_(rounded_up(p.arena_bytes)) {}

// ---- kernels

GpuEmitter::V GpuEmitter::known(V v) {
  if (!llvm::isa<llvm::Constant>(v)) e.impl().frame.depth[v] = e.impl().frame.level;
  return v;
}

GpuEmitter::V GpuEmitter::bounded(V v, const ir::Dim& n) {
  if (!llvm::isa<llvm::Constant>(v)) e.impl().frame.facts[v].bound = e.dim(n);
  return v;
}

GpuEmitter::V GpuEmitter::thread() { return thread_; }
GpuEmitter::V GpuEmitter::block() { return block_; }

GpuEmitter::V GpuEmitter::number_below(const ir::Dim& n, V blocks, V threads, int of) {
  // In 32 bits where that is enough: quotients of longer numbers are slow.
  if (n.is_const() && n.value() < (int64_t(1) << 31) - 4096) {
    return wide(b.CreateAdd(b.CreateMul(blocks, b.getInt32(uint32_t(of))), threads));
  }
  return known(b.CreateNUWAdd(b.CreateNUWMul(wide(blocks), b.getInt64(uint64_t(of))), wide(threads)));
}

void GpuEmitter::barrier() {
  waits_ = true;
  if (e.target.ptx) {
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
    return;
  }
  // GpuThread::barrier
  V f = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), self_, offsetof(GpuThread, barrier)));
  b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false), f, {self_});
}

GpuEmitter::V GpuEmitter::exchange(V v, int lane_xor) {
  waits_ = true;
  llvm::Type* t = v->getType();
  const unsigned bits = t->getPrimitiveSizeInBits();
  V raw = t->isIntegerTy() ? v : b.CreateBitCast(v, b.getIntNTy(bits));
  if (e.target.ptx) {
    const auto one = [&](V x) {
      return b.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {}, {b.getInt32(~0u), x, b.getInt32(uint32_t(lane_xor)), b.getInt32(31)});
    };
    if (bits == 64) {
      V low = b.CreateZExt(one(b.CreateTrunc(raw, b.getInt32Ty())), b.getInt64Ty());
      V high = b.CreateZExt(one(b.CreateTrunc(b.CreateLShr(raw, 32), b.getInt32Ty())), b.getInt64Ty());
      raw = b.CreateOr(low, b.CreateShl(high, 32));
    } else {
      raw = b.CreateTrunc(one(b.CreateZExt(raw, b.getInt32Ty())), b.getIntNTy(bits));
    }
  } else {
    V f = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), self_, offsetof(GpuThread, shuffle)));
    raw = b.CreateCall(llvm::FunctionType::get(b.getInt64Ty(), {b.getPtrTy(), b.getInt64Ty(), b.getInt32Ty()}, false), f,
                       {self_, b.CreateZExt(raw, b.getInt64Ty()), b.getInt32(uint32_t(lane_xor))});
    raw = b.CreateTrunc(raw, b.getIntNTy(bits));
  }
  return t->isIntegerTy() ? raw : b.CreateBitCast(raw, t);
}

GpuEmitter::V GpuEmitter::shared(llvm::Type* element, int64_t count) {
  const int64_t bytes = int64_t(e.module.getDataLayout().getTypeAllocSize(element)) * count, at = (shared_bytes_ + 15) / 16 * 16;
  shared_bytes_ = at + bytes;
  if (shared_bytes_ > (48 << 10)) return e.fail(core::internal_error("a kernel with ", shared_bytes_, " bytes of shared memory"), b.getPtrTy());
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(e.impl().frame.entry->getTerminator());
  V v = nullptr;
  if (e.target.ptx) {
    llvm::Type* t = llvm::ArrayType::get(element, uint64_t(count));
    auto* g = new llvm::GlobalVariable(e.module, t, false, llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(t), core::cat("shared", next_),
                                       nullptr, llvm::GlobalValue::NotThreadLocal, 3);
    g->setAlignment(llvm::Align(16));
    v = b.CreateAddrSpaceCast(g, b.getPtrTy());
  } else {
    V from = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), self_, offsetof(GpuThread, shared)));
    v = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), from, uint64_t(at));
  }
  e.impl().frame.depth[v] = 0;
  return v;
}

GpuEmitter::V GpuEmitter::argument(const GpuArg& a) {
  auto& [arg, v] = arguments_[key_of(a)];
  if (v) return v;
  arg = a;
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(e.impl().frame.entry->getTerminator());
  v = stand_in(b, a.kind == GpuArg::Kind::kSize ? static_cast<llvm::Type*>(b.getInt64Ty()) : b.getPtrTy());
  e.impl().frame.depth[v] = 0;
  return v;
}

GpuArg GpuEmitter::scratch_arg(const ir::Dim& offset) const { return {GpuArg::Kind::kArena, 0, base_ + offset}; }
GpuEmitter::V GpuEmitter::scratch(const ir::Dim& offset) { return argument(scratch_arg(offset)); }

ir::Dim GpuEmitter::reserve(const ir::Dim& bytes) {
  const ir::Dim at = reserved_;
  reserved_ = reserved_ + rounded_up(bytes);
  most_ = ir::max(most_, reserved_);
  return at;
}

GpuArg GpuEmitter::arg_of(int buffer) const {
  const Buffer& m = plan.buffers[size_t(buffer)];
  switch (m.kind) {
    case Buffer::Kind::kParameter: return {GpuArg::Kind::kParameter, m.index, 0};
    case Buffer::Kind::kResult: return {GpuArg::Kind::kResult, m.index, 0};
    case Buffer::Kind::kConstant: return {GpuArg::Kind::kConstant, m.index, 0};
    default: return {GpuArg::Kind::kArena, 0, m.offset};
  }
}

core::DType GpuEmitter::carried(core::DType t) { return t == core::DType::kHalf || t == core::DType::kBfloat16 ? core::DType::kFloat : t; }

core::Status GpuEmitter::kernel(const char* what, const ir::Instr* instr, const ir::Dim& blocks, int threads,
                                const std::function<core::Status()>& body) {
  CodeEmitter::Impl& impl = e.impl();
  CodeEmitter::Impl::Frame& f = impl.frame;
  f = CodeEmitter::Impl::Frame();
  arguments_.clear();
  shared_bytes_ = 0;
  waits_ = false;
  llvm::Type* nothing = b.getVoidTy();
  // Written without arguments first: which there are is known at the end.
  f.function = llvm::Function::Create(llvm::FunctionType::get(nothing, false), llvm::GlobalValue::InternalLinkage, "", e.module);
  e.function = f.function;
  f.entry = llvm::BasicBlock::Create(e.context, "entry", f.function);
  llvm::BasicBlock* first = llvm::BasicBlock::Create(e.context, "code", f.function);
  b.SetInsertPoint(f.entry);
  f.scopes.emplace_back();
  if (e.target.ptx) {
    thread_ = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {});
    block_ = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {});
    self_ = nullptr;
  } else {
    self_ = stand_in(b, b.getPtrTy());
    thread_ = b.CreateLoad(b.getInt32Ty(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), self_, offsetof(GpuThread, thread)));
    block_ = b.CreateLoad(b.getInt32Ty(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), self_, offsetof(GpuThread, block)));
    f.depth[self_] = 0;
  }
  f.depth[thread_] = f.depth[block_] = 0;
  b.CreateBr(first);
  b.SetInsertPoint(first);
  WEFT_RETURN_IF_ERROR(body());
  WEFT_RETURN_IF_ERROR(impl.status);
  b.CreateRetVoid();

  // The arguments. Two buffers at one place overlap; all else does not.
  struct Argument {
    V v;
    GpuArg arg;
    int64_t bytes = 0;
  };
  std::vector<Argument> arguments;
  for (auto& [buffer, v] : f.pointers) {
    const ir::Dim& bytes = plan.buffers[size_t(buffer)].bytes;
    arguments.push_back({v, arg_of(buffer), bytes.is_const() ? bytes.value() : 0});
  }
  for (auto& [key, a] : arguments_) arguments.push_back({a.second, a.first});
  for (auto& [key, v] : f.dims) arguments.push_back({v, {GpuArg::Kind::kSize, 0, f.dim_of.at(key)}});
  if (f.error) arguments.push_back({f.error, {GpuArg::Kind::kError, 0, 0}, 4});
  std::map<std::string, int> places;
  for (const Argument& a : arguments) ++places[key_of(a.arg)];

  const std::string name = core::cat("weft_", next_++, "_", what);
  std::vector<llvm::Type*> types;
  if (e.target.ptx) {
    for (const Argument& a : arguments) types.push_back(a.v->getType());
  } else {
    types = {b.getPtrTy(), b.getPtrTy()};
  }
  llvm::Function* k = llvm::Function::Create(llvm::FunctionType::get(nothing, types, false), llvm::GlobalValue::ExternalLinkage, name, e.module);
  k->splice(k->begin(), f.function);
  f.function->eraseFromParent();
  k->addFnAttr(llvm::Attribute::NoUnwind);
  const auto replace = [](V from, V with) {
    from->replaceAllUsesWith(with);
    llvm::cast<llvm::Instruction>(from)->eraseFromParent();
  };
  GpuLaunch l;
  l.entry = name, l.blocks = blocks, l.threads = threads, l.waits = waits_, l.instr = instr;
  if (e.target.ptx) {
    k->setCallingConv(llvm::CallingConv::PTX_Kernel);
    llvm::Metadata* limit[] = {llvm::ConstantAsMetadata::get(k), llvm::MDString::get(e.context, "maxntidx"),
                               llvm::ConstantAsMetadata::get(b.getInt32(uint32_t(threads)))};
    e.module.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(e.context, limit));
  } else {
    replace(self_, k->getArg(1));
  }
  b.SetInsertPoint(&*k->begin()->getFirstInsertionPt());
  for (size_t n = 0; n < arguments.size(); ++n) {
    const Argument& a = arguments[n];
    l.args.push_back(a.arg);
    if (!e.target.ptx) {
      replace(a.v, b.CreateLoad(a.v->getType(), b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), k->getArg(0), n)));
      continue;
    }
    const unsigned number = unsigned(n);
    replace(a.v, k->getArg(number));
    k->addParamAttr(number, llvm::Attribute::NoUndef);
    if (a.arg.kind == GpuArg::Kind::kSize) continue;
    if (places[key_of(a.arg)] == 1) k->addParamAttr(number, llvm::Attribute::NoAlias);
    if (a.bytes > 0) k->addDereferenceableParamAttr(number, uint64_t(a.bytes));
    if (a.arg.kind != GpuArg::Kind::kError) k->addParamAttr(number, llvm::Attribute::getWithAlignment(e.context, llvm::Align(16)));
  }
  launches_->push_back(std::move(l));
  f = CodeEmitter::Impl::Frame();
  return {};
}

core::Status GpuEmitter::each(const char* what, const ir::Instr* instr, const ir::Dim& n, const std::function<core::Status(V)>& body) {
  constexpr int64_t kMostTogether = int64_t(1) << 18;  // more is worth a launch of its own
  if (n.is(0)) return {};
  if (together_ && n.is_const() && n.value() <= kMostTogether) {
    waiting_.push_back({what, instr, n.value(), body, e.impl().current});
    return {};
  }
  const int threads = n.is_const() && n.value() < kThreads ? int((std::max<int64_t>(n.value(), 1) + 31) / 32 * 32) : kThreads;
  return kernel(what, instr, ir::ceil_div(n, threads), threads, [&]() -> core::Status {
    V number = number_below(n, block(), thread(), threads);
    core::Status status;
    e.when(b.CreateICmpULT(number, e.dim(n)), [&] { status = body(bounded(number, n)); });
    return status;
  });
}

core::Status GpuEmitter::flush() {
  constexpr size_t kMost = 32;  // kernels in one
  const std::vector<Waiting> all = std::exchange(waiting_, {});
  waiting_access_ = {};
  const bool together = std::exchange(together_, false);
  auto current = std::exchange(e.impl().current, {});
  core::Status status;
  for (size_t begin = 0; begin < all.size() && status.ok(); begin += kMost) {
    const std::span<const Waiting> some = std::span(all).subspan(begin, std::min(kMost, all.size() - begin));
    if (some.size() == 1) {
      e.impl().current = some[0].current;
      status = each(some[0].what, some[0].instr, some[0].n, some[0].body);
      continue;
    }
    int64_t largest = 1, blocks = 0;
    for (const Waiting& w : some) largest = std::max(largest, w.n);
    const int threads = int(std::min<int64_t>(kThreads, (largest + 31) / 32 * 32));
    std::vector<int64_t> ends;
    for (const Waiting& w : some) ends.push_back(blocks += (w.n + threads - 1) / threads);
    status = kernel(some[0].what, some[0].instr, ends.back(), threads, [&]() -> core::Status {
      core::Status inner;
      const std::function<void(size_t)> from = [&](size_t k) {
        const auto own = [&] {
          V number = number_below(ir::Dim(some[k].n), b.CreateSub(block(), b.getInt32(uint32_t(k ? ends[k - 1] : 0))), thread(), threads);
          e.impl().current = some[k].current;
          e.when(b.CreateICmpULT(number, e.i64(some[k].n)), [&] {
            if (inner.ok()) inner = some[k].body(bounded(number, ir::Dim(some[k].n)));
          });
        };
        if (k + 1 == some.size()) return own();
        e.when(b.CreateICmpULT(block(), b.getInt32(uint32_t(ends[k]))), own, [&] { from(k + 1); });
      };
      from(0);
      return inner;
    });
  }
  e.impl().current = std::move(current);
  together_ = together;
  return status;
}

bool GpuEmitter::overlap(std::span<const Range> a, std::span<const Range> c) {
  return std::any_of(a.begin(), a.end(), [&](const Range& x) {
    return std::any_of(c.begin(), c.end(), [&](const Range& y) {
      if (x.at.kind != y.at.kind) return false;
      if (x.at.kind != GpuArg::Kind::kArena) return x.at.index == y.at.index;
      if (!x.at.size.is_const() || !y.at.size.is_const() || !x.bytes.is_const() || !y.bytes.is_const()) return true;
      return x.at.size.value() < y.at.size.value() + y.bytes.value() && y.at.size.value() < x.at.size.value() + x.bytes.value();
    });
  });
}

void GpuEmitter::note_reads(const ir::Instr* i, std::span<const ir::Instr* const> own, std::unordered_set<const ir::Instr*>& seen,
                            std::vector<Range>& to) const {
  if (!seen.insert(i).second) return;
  const bool inside = std::find(own.begin(), own.end(), i) != own.end();
  if (!inside && plan.buffer_of(i) >= 0) {
    to.push_back(range_of(plan.buffer_of(i)));
    return;
  }
  for (const ir::Instr* o : i->operands) note_reads(o, own, seen, to);
}

GpuEmitter::Access GpuEmitter::access(const Step& s) const {
  Access a;
  std::unordered_set<const ir::Instr*> seen;
  if (s.kind == Step::Kind::kCopy) {
    a.writes.push_back(range_of(s.copy_to));
    if (s.copy_from_buffer >= 0) a.reads.push_back(range_of(s.copy_from_buffer));
    else note_reads(s.copy_from, {}, seen, a.reads);
    return a;
  }
  for (const ir::Instr* i : s.instrs) {
    note_reads(i, s.instrs, seen, a.reads);
    if (plan.buffer_of(i) >= 0) a.writes.push_back(range_of(plan.buffer_of(i)));
    if (const auto it = plan.results.find(i); it != plan.results.end()) {
      for (int buffer : it->second) {
        if (buffer >= 0) a.writes.push_back(range_of(buffer));
      }
    }
    const auto& added = const_cast<GpuEmitter*>(this)->e.impl().added_to;
    if (const auto it = added.find(i); it != added.end() && plan.buffer_of(it->second) >= 0) {
      a.writes.push_back(range_of(plan.buffer_of(it->second)));
      a.reads.push_back(a.writes.back());
    }
  }
  return a;
}

core::Status GpuEmitter::wait_for(Access&& a) {
  if (!waiting_.empty() &&
      (overlap(a.reads, waiting_access_.writes) || overlap(a.writes, waiting_access_.writes) || overlap(a.writes, waiting_access_.reads)))
    WEFT_RETURN_IF_ERROR(flush());
  waiting_access_.reads.insert(waiting_access_.reads.end(), a.reads.begin(), a.reads.end());
  waiting_access_.writes.insert(waiting_access_.writes.end(), a.writes.begin(), a.writes.end());
  return {};
}

// ---- steps

core::Status GpuEmitter::run() {
  WEFT_RETURN_IF_ERROR(steps(plan.steps, code.launches));
  code.arena_bytes = base_ + most_;
  return {};
}

core::Status GpuEmitter::steps(std::span<const Step> s, std::vector<GpuLaunch>& to) {
  find_accumulations(plan, s, e.impl());
  std::vector<GpuLaunch>* const outer = launches_;
  launches_ = &to;
  core::Status status = early_checks(s);
  for (const Step& x : s) {
    if (!status.ok()) break;
    if (is_early(x)) continue;
    reserved_ = 0;
    e.impl().current.clear();
    const bool decides = x.kind == Step::Kind::kWhile || x.kind == Step::Kind::kIf;
    status = decides ? flush() : wait_for(access(x));
    together_ =
        x.kind == Step::Kind::kLoop || x.kind == Step::Kind::kCopy ||
        (x.kind == Step::Kind::kInstr && !x.instrs.empty() && (x.instrs[0]->op == ir::Op::kDynamicUpdate || x.instrs[0]->op == ir::Op::kCheck));
    if (status.ok()) status = step(x);
    together_ = false;
    if (status.ok()) status = e.impl().status;
    if (!status.ok()) {
      const ir::Instr* i = x.kind == Step::Kind::kCopy ? x.copy_from : x.instrs.empty() ? nullptr : x.instrs[0];
      if (i && !i->node.empty() && status.message().find(i->node) == std::string::npos)
        status = status.with_suffix(core::cat(" (node ", i->node, ")"));
      break;
    }
  }
  if (status.ok()) status = flush();
  if (status.ok()) status = e.impl().status;
  launches_ = outer;
  return status;
}

// A check of what is there when its region begins.
bool GpuEmitter::is_early(const Step& s) const {
  if (s.kind != Step::Kind::kInstr || s.instrs.empty() || s.instrs[0]->op != ir::Op::kCheck) return false;
  constexpr int kMostInstrs = 64;
  int seen = 0;
  const std::function<bool(const ir::Instr*)> early = [&](const ir::Instr* v) {
    if (++seen > kMostInstrs) return false;
    if (v->parent != s.instrs[0]->parent || v->op == ir::Op::kParameter || v->op == ir::Op::kConstant || v->op == ir::Op::kSizes) return true;
    if (plan.buffer_of(v) >= 0) return false;
    return std::all_of(v->operands.begin(), v->operands.end(), early);
  };
  return early(s.instrs[0]->operands[0]);
}

// All of them in one kernel.
core::Status GpuEmitter::early_checks(std::span<const Step> s) {
  std::vector<const ir::Instr*> checks;
  for (const Step& x : s) {
    if (is_early(x)) checks.push_back(x.instrs[0]);
  }
  if (checks.empty()) return {};
  reserved_ = 0;
  e.impl().current.clear();
  Access a;
  std::unordered_set<const ir::Instr*> seen;
  for (const ir::Instr* i : checks) note_reads(i, {}, seen, a.reads);
  WEFT_RETURN_IF_ERROR(wait_for(std::move(a)));
  together_ = true;
  WEFT_RETURN_IF_ERROR(each("check", checks[0], 1, [this, checks](V) -> core::Status {
    for (const ir::Instr* i : checks) e.error_if(b.CreateNot(e.element(i->operands[0], {})), i->message);
    return {};
  }));
  together_ = false;
  return e.impl().status;
}

core::Status GpuEmitter::step(const Step& s) {
  using Op = ir::Op;
  switch (s.kind) {
    case Step::Kind::kWhile:
    case Step::Kind::kIf: return control(s);
    case Step::Kind::kCopy: {
      const int from = s.copy_from_buffer >= 0 ? s.copy_from_buffer : plan.buffer_of(s.copy_from);
      if (from < 0) return materialize(s.copy_from, s.copy_to);
      return copy(s.copy_to, from, s.copy_from->type, s.copy_from);
    }
    case Step::Kind::kLoop: return e.impl().done.count(&s) ? core::Status() : loop(s);
    case Step::Kind::kRows: return rows(s);
    case Step::Kind::kInstr: break;
  }
  if (s.instrs.empty()) return core::internal_error("a step without an instruction");
  const ir::Instr* i = s.instrs[0];
  switch (i->op) {
    case Op::kReduce: return reduce(i);
    case Op::kArgReduce: return arg_reduce(i);
    case Op::kScan: return scan(i);
    case Op::kSort: return sort(i);
    case Op::kScatter: return scatter(i);
    case Op::kDynamicUpdate: return update(i);
    case Op::kDot: return dot(i);
    case Op::kConv: return conv(i);
    case Op::kConvFilterGrad: return conv_filter_grad(i);
    case Op::kWindow: return window(i);
    case Op::kMaxPoolGrad: return max_pool_grad(i);
    case Op::kCheck:
      return each("check", i, 1, [this, i](V) -> core::Status {
        e.error_if(b.CreateNot(e.element(i->operands[0], {})), i->message);
        return {};
      });
    default: return loop(s);
  }
}

core::Status GpuEmitter::library(const ir::Instr* i, std::vector<const ir::Instr*> operands, int to, bool add,
                                 const std::function<core::Status()>& fallback) {
  GpuLaunch l;
  l.kind = GpuLaunch::Kind::kLibrary, l.instr = i, l.add = add;
  for (const ir::Instr* o : operands) {
    if (plan.buffer_of(o) < 0) return core::internal_error("an operand of %", i->id, " has no memory");
    l.args.push_back(arg_of(plan.buffer_of(o)));
  }
  l.args.push_back(arg_of(to));
  std::vector<GpuLaunch>* const outer = launches_;
  l.regions.emplace_back();
  launches_ = &l.regions[0];
  const core::Status status = fallback();
  launches_ = outer;
  launches_->push_back(std::move(l));
  return status;
}

// The host reads one number: what to do is decided there.
core::Status GpuEmitter::control(const Step& s) {
  const ir::Instr* i = s.instrs[0];
  const bool loops = s.kind == Step::Kind::kWhile;
  if (s.regions.empty() || (loops && (s.regions.size() != 2 || i->regions.empty() || i->regions[0]->results.empty()))) {
    return core::internal_error("control without regions");
  }
  GpuLaunch l;
  l.kind = loops ? GpuLaunch::Kind::kWhile : GpuLaunch::Kind::kIf;
  l.instr = i;
  if (const ir::Dim* trips = loops ? trips_of(*i) : nullptr) l.trips = *trips;
  const bool errors = !plan.module->messages.empty();
  const ir::Dim slot = reserve(64);
  const GpuArg to = scratch_arg(slot), error{GpuArg::Kind::kError, 0, 0};
  l.args = {to};
  if (loops && errors) l.args.push_back(error);
  const auto decide = [&](const ir::Instr* value) {
    e.impl().current.clear();
    return kernel(loops ? "while" : "if", i, 1, 1, [&]() -> core::Status {
      V v = e.element(value, Index(size_t(value->rank()), e.i64(0)));
      if (loops) {
        if (errors) v = b.CreateAnd(v, b.CreateICmpEQ(b.CreateLoad(b.getInt32Ty(), argument(error)), b.getInt32(0)));
        b.CreateStore(b.CreateZExt(v, b.getInt8Ty()), argument(to));
      } else if (value->type.dtype == core::DType::kBool) {
        b.CreateStore(b.CreateZExt(v, b.getInt32Ty()), argument(to));
      } else {
        V last = llvm::ConstantInt::get(v->getType(), s.regions.size() - 1);
        b.CreateStore(b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, v, last), b.getInt32Ty()), argument(to));
      }
      return {};
    });
  };
  if (!loops) {
    if (i->operand(0).type.dtype == core::DType::kBool && s.regions.size() != 2) return core::internal_error("a branch by a bool needs two regions");
    WEFT_RETURN_IF_ERROR(decide(i->operands[0]));
  }
  l.regions.resize(s.regions.size());
  for (size_t k = 0; k < s.regions.size(); ++k) {
    WEFT_RETURN_IF_ERROR(steps(s.regions[k], l.regions[k]));
    if (!loops || k > 0) continue;
    std::vector<GpuLaunch>* const outer = std::exchange(launches_, &l.regions[0]);
    const core::Status status = decide(i->regions[0]->results[0]);
    launches_ = outer;
    WEFT_RETURN_IF_ERROR(status);
  }
  launches_->push_back(std::move(l));
  return {};
}

}  // namespace weft_engine::compiler
