// Kernels, steps and control.
#include "compiler/llvm/gpu_emitter.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>
#include <functional>

#include "ir/attention.h"

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
  const bool number = a.kind == GpuArg::Kind::kSize || a.kind == GpuArg::Kind::kIteration;
  v = stand_in(b, number ? static_cast<llvm::Type*>(b.getInt64Ty()) : b.getPtrTy());
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
  WEFT_RETURN_IF_ERROR(settle());
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
    if (a.arg.kind == GpuArg::Kind::kSize || a.arg.kind == GpuArg::Kind::kIteration) continue;
    if (places[key_of(a.arg)] == 1) k->addParamAttr(number, llvm::Attribute::NoAlias);
    if (a.bytes > 0) k->addDereferenceableParamAttr(number, uint64_t(a.bytes));
    if (a.arg.kind != GpuArg::Kind::kError) k->addParamAttr(number, llvm::Attribute::getWithAlignment(e.context, llvm::Align(16)));
  }
  launches_->push_back(std::move(l));
  f = CodeEmitter::Impl::Frame();
  return {};
}

core::Status GpuEmitter::each(const char* what, const ir::Instr* instr, const ir::Dim& n, const std::function<core::Status(V)>& body) {
  return each(what, instr, n, 1, [body](V number, int64_t) { return body(number); });
}

core::Status GpuEmitter::each(const char* what, const ir::Instr* instr, const ir::Dim& all, int64_t several, const Body& body) {
  constexpr int64_t kMostTogether = int64_t(1) << 18;  // more is worth a launch of its own
  constexpr size_t kMostParts = 12;
  if (all.is(0)) return {};
  const ir::Dim n = ir::ceil_div(all, several);
  if (together_ && n.is_const() && n.value() <= kMostTogether) {
    std::vector<size_t> behind;
    bool alone = false;
    size_t parts = 1;
    for (size_t k = 0; k < waiting_.size(); ++k) {
      const Dependence d = on(waiting_[k]);
      if (d == Dependence::kNone) continue;
      alone = alone || d == Dependence::kOther || waiting_[k].all != all.value();
      parts += waiting_[k].parts.size();
      behind.push_back(k);
    }
    if (alone || parts > kMostParts) {
      WEFT_RETURN_IF_ERROR(flush());
      behind.clear();
    }
    Waiting::Part part{body, e.impl().current, access_, step_};
    if (behind.empty()) {
      waiting_.push_back({what, instr, all.value(), several, {std::move(part)}});
      return {};
    }
    // Those that it depends on do not depend on each other.
    Waiting& to = waiting_[behind[0]];
    for (size_t k = behind.size(); k-- > 1;) {
      Waiting& other = waiting_[behind[k]];
      to.parts.insert(to.parts.end(), std::make_move_iterator(other.parts.begin()), std::make_move_iterator(other.parts.end()));
      to.several = std::min(to.several, other.several);
      waiting_.erase(waiting_.begin() + long(behind[k]));
    }
    to.several = std::min(to.several, several);
    to.parts.push_back(std::move(part));
    return {};
  }
  const int threads = n.is_const() && n.value() < kThreads ? int((std::max<int64_t>(n.value(), 1) + 31) / 32 * 32) : kThreads;
  return kernel(what, instr, ir::ceil_div(n, threads), threads, [&]() -> core::Status {
    V number = number_below(n, block(), thread(), threads);
    core::Status status;
    e.when(b.CreateICmpULT(number, e.dim(n)), [&] { status = body(bounded(number, n), several); });
    return status;
  });
}

core::Status GpuEmitter::flush() {
  constexpr size_t kMost = 32;  // kernels in one
  const std::vector<Waiting> all = std::exchange(waiting_, {});
  const bool together = std::exchange(together_, false), outer = std::exchange(flushing_, true);
  auto current = std::exchange(e.impl().current, {});
  core::Status status;
  for (size_t begin = 0; begin < all.size() && status.ok(); begin += kMost) {
    const std::span<const Waiting> some = std::span(all).subspan(begin, std::min(kMost, all.size() - begin));
    int64_t largest = 1, blocks = 0;
    for (const Waiting& w : some) largest = std::max(largest, w.n());
    const int threads = int(std::min<int64_t>(kThreads, (largest + 31) / 32 * 32));
    std::vector<int64_t> ends;
    for (const Waiting& w : some) ends.push_back(blocks += (w.n() + threads - 1) / threads);
    status = kernel(some[0].what, some[0].instr, ends.back(), threads, [&]() -> core::Status {
      core::Status inner;
      const std::function<void(size_t)> from = [&](size_t k) {
        const auto own = [&] {
          const ir::Dim n(some[k].n());
          V number = number_below(n, k ? b.CreateSub(block(), b.getInt32(uint32_t(ends[k - 1]))) : block(), thread(), threads);
          e.when(b.CreateICmpULT(number, e.dim(n)), [&] {
            for (const Waiting::Part& part : some[k].parts) {
              e.impl().current = part.current;
              if (inner.ok()) inner = part.body(bounded(number, n), some[k].several);
            }
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
  flushing_ = outer;
  return status;
}

bool GpuEmitter::overlap(const Range& x, const Range& y) {
  if (x.at.kind != y.at.kind) return false;
  if (x.at.kind != GpuArg::Kind::kArena) return x.at.index == y.at.index;
  if (!x.at.size.is_const() || !y.at.size.is_const() || !x.bytes.is_const() || !y.bytes.is_const()) return true;
  return x.at.size.value() < y.at.size.value() + y.bytes.value() && y.at.size.value() < x.at.size.value() + x.bytes.value();
}

GpuEmitter::Dependence GpuEmitter::between(const Access& a, const Access& c) {
  Dependence d = Dependence::kNone;
  const auto look = [&](std::span<const Range> some, std::span<const Range> others) {
    for (const Range& x : some) {
      for (const Range& y : others) {
        if (!overlap(x, y)) continue;
        const bool elements = x.own && x.own == y.own && x.at == y.at && x.bytes == y.bytes && x.from == y.from;
        d = std::max(d, elements ? Dependence::kElements : Dependence::kOther);
      }
    }
  };
  look(a.writes, c.reads);
  look(a.writes, c.writes);
  look(a.reads, c.writes);
  return d;
}

GpuEmitter::Dependence GpuEmitter::on(const Waiting& w) const {
  Dependence d = Dependence::kNone;
  for (const Waiting::Part& p : w.parts) {
    if (p.step != step_) d = std::max(d, between(p.access, access_));
  }
  return d;
}

core::Status GpuEmitter::settle() {
  if (flushing_) return {};
  const bool waits = std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return on(w) != Dependence::kNone; });
  return waits ? flush() : core::Status();
}

GpuEmitter::Range GpuEmitter::range_of(int buffer, const ir::Instr* own) const {
  const bool counts = own && own->type.elements().is_const();
  return {arg_of(buffer), plan.buffers[size_t(buffer)].bytes, counts ? own->type.elements().value() : 0};
}

void GpuEmitter::note_reads(const ir::Instr* i, std::span<const ir::Instr* const> own, Seen& seen, std::vector<Range>& to, bool same) const {
  if (is_number(i) || !seen[same].insert(i).second) return;
  const bool inside = std::find(own.begin(), own.end(), i) != own.end();
  if (!inside && plan.buffer_of(i) >= 0) {
    to.push_back(range_of(plan.buffer_of(i), same ? i : nullptr));
    return;
  }
  // A part of something that another kernel writes the same part of.
  if (same && i->op == ir::Op::kDynamicSlice && plan.buffer_of(i->operands[0]) >= 0 && i->type.elements().is_const()) {
    Range r = range_of(plan.buffer_of(i->operands[0]), i);
    r.from.assign(i->operands.begin() + 1, i->operands.end());
    to.push_back(std::move(r));
    for (size_t k = 1; k < i->operands.size(); ++k) note_reads(i->operands[k], own, seen, to, false);
    return;
  }
  const bool keeps = ir::is_elementwise(i->op) || i->op == ir::Op::kReshape || (inside && i->op == ir::Op::kConcat);
  for (const ir::Instr* o : i->operands) note_reads(o, own, seen, to, same && keeps);
}

GpuEmitter::Access GpuEmitter::access(const Step& s) const {
  Access a;
  Seen seen;
  if (s.kind == Step::Kind::kCopy) {
    const bool elements = s.copy_from_buffer >= 0 || s.copy_from->op != ir::Op::kConcat;  // parts of that have threads of their own
    a.writes.push_back(range_of(s.copy_to, elements ? s.copy_from : nullptr));
    if (s.copy_from_buffer >= 0) a.reads.push_back(range_of(s.copy_from_buffer, s.copy_from));
    else note_reads(s.copy_from, {}, seen, a.reads, elements);
    return a;
  }
  const bool loop = s.kind == Step::Kind::kLoop;
  for (const ir::Instr* i : s.instrs) {
    if (is_number(i)) continue;
    if (i->op == ir::Op::kDynamicUpdate && s.kind == Step::Kind::kInstr) {
      // In place it reads nothing of the rest.
      const bool in_place = plan.buffer_of(i->operands[0]) == plan.buffer_of(i);
      for (size_t k = in_place ? 1 : 0; k < i->operands.size(); ++k) note_reads(i->operands[k], s.instrs, seen, a.reads, k == 1);
      if (in_place) {
        Range r = range_of(plan.buffer_of(i), i->operands[1]);
        r.from.assign(i->operands.begin() + 2, i->operands.end());
        a.writes.push_back(std::move(r));
        continue;
      }
    } else {
      note_reads(i, s.instrs, seen, a.reads, loop);
    }
    const bool elements = loop && i->op != ir::Op::kConcat;
    if (plan.buffer_of(i) >= 0) a.writes.push_back(range_of(plan.buffer_of(i), elements ? i : nullptr));
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
    if (done_.contains(&x) || is_early(x) || (x.kind == Step::Kind::kInstr && !x.instrs.empty() && always_holds(x.instrs[0]))) continue;
    reserved_ = 0;
    e.impl().current.clear();
    const bool decides = x.kind == Step::Kind::kWhile || x.kind == Step::Kind::kIf;
    access_ = decides ? Access() : access(x);
    ++step_;
    together_ =
        x.kind == Step::Kind::kLoop || x.kind == Step::Kind::kCopy ||
        (x.kind == Step::Kind::kInstr && !x.instrs.empty() && (x.instrs[0]->op == ir::Op::kDynamicUpdate || x.instrs[0]->op == ir::Op::kCheck));
    // Those that may be done together with what waits find out by themselves.
    const bool folds = x.kind == Step::Kind::kInstr && !x.instrs.empty() && x.instrs[0]->op == ir::Op::kReduce;
    const std::vector<const ir::Instr*> reductions = folds ? beside(s, size_t(&x - s.data())) : std::vector<const ir::Instr*>();
    if (decides) status = flush();
    else if (!together_) status = settle();
    if (status.ok()) status = folds ? reduce(reductions) : step(x);
    together_ = false;
    if (status.ok()) status = e.impl().status;
    if (!status.ok()) {
      status = of_step(status, x);
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
    if (is_early(x) && !always_holds(x.instrs[0])) checks.push_back(x.instrs[0]);
  }
  if (checks.empty()) return {};
  reserved_ = 0;
  e.impl().current.clear();
  Seen seen;
  access_ = {};
  for (const ir::Instr* i : checks) note_reads(i, {}, seen, access_.reads, false);
  ++step_;
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
      if (is_number(s.copy_from)) {
        const auto it = counters_.find(s.copy_from);
        // Of the counter itself: there is nothing to keep.
        if (it != counters_.end() && it->second.depth == depth_ - 1 && counter_buffers_.contains(s.copy_to)) return {};
        return store_all(std::span(&s.copy_from, 1), std::span(&s.copy_from, 1), s.copy_to);
      }
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
  if (i->op == ir::Op::kAttention || i->op == ir::Op::kAttentionGrad) return attention(i);
  switch (i->op) {
    case Op::kReduce: return reduce({i});
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

// A library's alone.
core::Status GpuEmitter::attention(const ir::Instr* i) {
  GpuLaunch l;
  l.kind = GpuLaunch::Kind::kLibrary, l.instr = i;
  for (const ir::Instr* o : i->operands) {
    if (plan.buffer_of(o) < 0) return core::internal_error("an operand of %", i->id, " has no memory");
    l.args.push_back(arg_of(plan.buffer_of(o)));
  }
  for (int to : plan.results.at(i)) {
    // What nobody reads is written all the same.
    const size_t k = l.args.size() - i->operands.size();
    const ir::Type& t = i->results[k];
    l.args.push_back(to >= 0 ? arg_of(to) : scratch_arg(reserve(t.elements() * int64_t(core::dtype_size(t.dtype)))));
  }
  launches_->push_back(std::move(l));
  return {};
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
  const auto outer_counters = counters_;
  const auto outer_buffers = counter_buffers_;
  const int64_t outer_trips = trips_;
  if (const ir::Dim* trips = loops ? trips_of(*i) : nullptr) {
    l.trips = *trips;
    find_counters(i);
    trips_ = trips->is_const() ? trips->value() : 0;
  } else if (loops) {
    trips_ = 0;
  }
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
  if (loops) ++depth_;
  for (size_t k = 0; k < s.regions.size(); ++k) {
    WEFT_RETURN_IF_ERROR(steps(s.regions[k], l.regions[k]));
    if (!loops || k > 0) continue;
    std::vector<GpuLaunch>* const outer = std::exchange(launches_, &l.regions[0]);
    const core::Status status = decide(i->regions[0]->results[0]);
    launches_ = outer;
    WEFT_RETURN_IF_ERROR(status);
  }
  if (loops) --depth_;
  trips_ = outer_trips;
  counters_ = outer_counters;
  counter_buffers_ = outer_buffers;
  for (auto it = e.impl().numbers.begin(); it != e.impl().numbers.end();) it = is_number(it->first) ? std::next(it) : e.impl().numbers.erase(it);
  launches_->push_back(std::move(l));
  return {};
}

std::optional<int64_t> GpuEmitter::number_of(const ir::Instr* i, int64_t turn) const {
  if (const auto it = counters_.find(i); it != counters_.end()) {
    if (it->second.depth != depth_ - 1) return {};
    return it->second.first + it->second.step * turn;
  }
  if (const auto it = known_.find(i); it != known_.end()) return it->second;
  if (i->rank() != 0) return {};
  const auto operand = [&](size_t k) { return number_of(i->operands[k], turn); };
  switch (i->op) {
    case ir::Op::kConstant:
      switch (i->type.dtype) {
        case core::DType::kInt32: return *static_cast<const int32_t*>(i->literal.raw());
        case core::DType::kInt64: return *static_cast<const int64_t*>(i->literal.raw());
        case core::DType::kBool: return *static_cast<const bool*>(i->literal.raw());
        default: return {};
      }
    case ir::Op::kSizes:
      return i->known && i->known->size() == 1 && i->known->front().is_const() ? std::optional(i->known->front().value()) : std::nullopt;
    case ir::Op::kReshape: return operand(0);
    case ir::Op::kConvert: {
      const core::DType t = i->type.dtype;
      const auto v = operand(0);
      if (!v || (t != core::DType::kInt64 && !(t == core::DType::kInt32 && int32_t(*v) == *v))) return {};
      return v;
    }
    case ir::Op::kUnary: {
      const auto v = operand(0);
      if (!v || i->unary != ir::Unary::kNot || i->type.dtype != core::DType::kBool) return {};
      return !*v;
    }
    case ir::Op::kSelect: {
      const auto which = operand(0);
      return which ? operand(*which ? 1 : 2) : std::nullopt;
    }
    case ir::Op::kCompare:
    case ir::Op::kBinary: {
      const auto a = operand(0), c = operand(1);
      constexpr int64_t kSmall = int64_t(1) << 30;  // nothing overflows
      if (!a || !c || std::abs(*a) > kSmall || std::abs(*c) > kSmall) return {};
      if (i->op == ir::Op::kCompare) {
        switch (i->compare) {
          case ir::Compare::kEq: return *a == *c;
          case ir::Compare::kNe: return *a != *c;
          case ir::Compare::kLt: return *a < *c;
          case ir::Compare::kLe: return *a <= *c;
          case ir::Compare::kGt: return *a > *c;
          case ir::Compare::kGe: return *a >= *c;
        }
        return {};
      }
      switch (i->binary) {
        case ir::Binary::kAdd: return *a + *c;
        case ir::Binary::kSub: return *a - *c;
        case ir::Binary::kMax: return std::max(*a, *c);
        case ir::Binary::kMin: return std::min(*a, *c);
        case ir::Binary::kAnd: return *a & *c;
        case ir::Binary::kOr: return *a | *c;
        default: return {};
      }
    }
    default: return {};
  }
}

bool GpuEmitter::always_holds(const ir::Instr* check) const {
  constexpr int64_t kMostTurns = 10000;
  if (!trips_ || trips_ > kMostTurns || check->op != ir::Op::kCheck) return false;
  for (int64_t turn = 0; turn < trips_; ++turn) {
    const auto v = number_of(check->operands[0], turn);
    if (!v || !*v) return false;
  }
  return true;
}

// Numbers that every turn adds a constant to, from a constant on: kernels get them as arguments.
void GpuEmitter::find_counters(const ir::Instr* loop) {
  const ir::Region& body = *loop->regions[1];
  const auto number = [&](const ir::Instr* v) -> std::optional<int64_t> {
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    while (v->op == ir::Op::kReshape || v->op == ir::Op::kConvert) {
      if (v->op == ir::Op::kConvert && v->operand(0).type.dtype != core::DType::kInt32 && v->operand(0).type.dtype != core::DType::kInt64) return {};
      v = v->operands[0];
    }
    if (v->op != ir::Op::kConstant || !v->type.elements().is(1)) return {};
    if (v->type.dtype == core::DType::kInt32) return *static_cast<const int32_t*>(v->literal.raw());
    if (v->type.dtype == core::DType::kInt64) return *static_cast<const int64_t*>(v->literal.raw());
    return {};
  };
  for (size_t k = 0; k < body.parameters.size(); ++k) {
    const ir::Instr *p = body.parameters[k], *r = body.results[k];
    if (p->rank() != 0 || (p->type.dtype != core::DType::kInt32 && p->type.dtype != core::DType::kInt64)) continue;
    if (r->op != ir::Op::kBinary || (r->binary != ir::Binary::kAdd && r->binary != ir::Binary::kSub)) continue;
    const bool down = r->binary == ir::Binary::kSub;
    const auto first = number(loop->operands[k]);
    auto step = r->operands[0] == p ? number(r->operands[1]) : r->operands[1] == p && !down ? number(r->operands[0]) : std::nullopt;
    if (!first || !step) continue;
    if (down) step = -*step;
    const ir::Dim* trips = trips_of(*loop);
    std::vector<const ir::Instr*> behind;
    for (const auto& o : loop->parent->instrs) {
      if (o->op == ir::Op::kGet && o->operands[0] == loop && size_t(o->index) == k) behind.push_back(o.get());
    }
    // A result of the region would be copied from where nothing was stored.
    const auto& results = loop->parent->results;
    const bool given =
        std::any_of(behind.begin(), behind.end(), [&](const ir::Instr* g) { return std::find(results.begin(), results.end(), g) != results.end(); });
    if (!behind.empty() && (!trips->is_const() || given)) continue;
    for (const ir::Instr* g : behind) {
      known_[g] = *first + *step * std::max<int64_t>(trips->value(), 0);
      e.impl().numbers[g] = [this, g, n = known_[g]]() -> V { return llvm::ConstantInt::getSigned(e.value_type(g->type.dtype), n); };
    }
    const auto put = [&](const ir::Instr* v, int64_t from) {
      counters_[v] = {depth_, from, *step};
      e.impl().numbers[v] = [this, v, at = counters_[v]]() -> V {
        V turns = argument({GpuArg::Kind::kIteration, at.depth, 0});
        V n = b.CreateAdd(b.CreateMul(turns, e.i64(at.step)), e.i64(at.first));
        return v->type.dtype == core::DType::kInt32 ? b.CreateTrunc(n, b.getInt32Ty()) : n;
      };
    };
    put(p, *first);
    put(r, *first + *step);
    if (const int buffer = plan.buffer_of(p); buffer >= 0) counter_buffers_.insert(buffer);
  }
}

}  // namespace weft_engine::compiler
