// Functions, sizes, memory, errors, and the order of the steps.
#include "compiler/llvm/code_emitter.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/llvm/code_emitter_impl.h"
#include "compiler/llvm/gemm_kernel.h"
#include "compiler/scratch.h"

#include "core/error_notes.h"
#include "ir/attention.h"

namespace weft_engine::compiler {

using core::DType;

CodeEmitter::CodeEmitter(llvm::Module& m, const Plan& p, const Target& t, const CodegenOptions& o, std::string s)
    : module(m), context(m.getContext()), plan(p), target(t), options(o), symbol(std::move(s)), b(context), impl_(std::make_unique<Impl>()) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  b.setFastMathFlags(flags);
}

CodeEmitter::~CodeEmitter() = default;

CodeEmitter::V CodeEmitter::fail(core::Status s, llvm::Type* t) {
  if (impl_->status.ok()) impl_->status = std::move(s);
  return llvm::PoisonValue::get(t ? t : b.getInt64Ty());
}

// ---- types

llvm::Type* CodeEmitter::type(DType t) {
  switch (t) {
    case DType::kFloat: return b.getFloatTy();
    case DType::kDouble: return b.getDoubleTy();
    case DType::kHalf: return b.getHalfTy();
    case DType::kBfloat16: return b.getInt16Ty();  // converted by hand: not every target can
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E4m3fnuz:
    case DType::kFloat8E4m3b11fnuz:
    case DType::kFloat8E5m2fnuz:  // bytes: the IR converts them itself
    case DType::kBool:
    case DType::kInt8:
    case DType::kUint8: return b.getInt8Ty();
    case DType::kInt16:
    case DType::kUint16: return b.getInt16Ty();
    case DType::kInt32:
    case DType::kUint32: return b.getInt32Ty();
    case DType::kInt64:
    case DType::kUint64:
    case DType::kComplex64: return b.getInt64Ty();  // complex numbers as bits: they are moved, and taken apart
    case DType::kComplex128: return b.getInt128Ty();
    default: fail(core::unimplemented("compiled code for values of type ", t)); return b.getInt32Ty();
  }
}

llvm::Type* CodeEmitter::value_type(DType t) {
  if (t == DType::kBool) return b.getInt1Ty();
  if (t == DType::kHalf || t == DType::kBfloat16) return b.getFloatTy();
  return type(t);
}

CodeEmitter::V CodeEmitter::load(DType t, V pointer, V offset) {
  llvm::Type* memory = type(t);
  V place = b.CreateInBoundsGEP(memory, pointer, offset);
  llvm::LoadInst* l = b.CreateAlignedLoad(memory, place, llvm::Align(core::dtype_size(t)));
  if (impl_->frame.access_group) l->setMetadata(llvm::LLVMContext::MD_access_group, impl_->frame.access_group);
  if (t == DType::kBool) return b.CreateICmpNE(l, llvm::ConstantInt::get(memory, 0));
  if (t == DType::kHalf) return b.CreateFPExt(l, b.getFloatTy());
  if (t == DType::kBfloat16) return b.CreateBitCast(b.CreateShl(b.CreateZExt(l, b.getInt32Ty()), 16), b.getFloatTy());
  return l;
}

void CodeEmitter::store(DType t, V value, V pointer, V offset) {
  llvm::Type* memory = type(t);
  if (t == DType::kBool) value = b.CreateZExt(value, memory);
  if (t == DType::kHalf) value = b.CreateFPTrunc(value, memory);
  if (t == DType::kBfloat16) {
    // To the nearest, half to even; NaN keeps its upper bits and stays one.
    V bits = b.CreateBitCast(value, b.getInt32Ty());
    V odd = b.CreateAnd(b.CreateLShr(bits, 16), b.getInt32(1));
    V rounded = b.CreateLShr(b.CreateAdd(bits, b.CreateAdd(odd, b.getInt32(0x7fff))), 16);
    V nan = b.CreateOr(b.CreateLShr(bits, 16), b.getInt32(0x40));
    value = b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(value, value), nan, rounded), memory);
  }
  V place = b.CreateInBoundsGEP(memory, pointer, offset);
  llvm::StoreInst* s = b.CreateAlignedStore(value, place, llvm::Align(core::dtype_size(t)));
  if (impl_->frame.access_group) s->setMetadata(llvm::LLVMContext::MD_access_group, impl_->frame.access_group);
}

// ---- sizes

namespace {

// In the entry function; `b` is where sizes are computed.
struct DimWriter {
  llvm::IRBuilder<>& b;
  llvm::Value* symbols;

  llvm::Value* atom(const ir::Dim::Atom& a) {
    using Kind = ir::Dim::Kind;
    if (a.kind == Kind::kSymbol) {
      llvm::LoadInst* l = b.CreateLoad(b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), symbols, uint64_t(a.symbol)));
      l->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
      return l;
    }
    llvm::Value *x = write(*a.a), *y = write(*a.b), *zero = b.getInt64(0);
    if (a.kind == Kind::kMin) return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
    if (a.kind == Kind::kMax) return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y);
    llvm::Value* none = b.CreateICmpEQ(y, zero);
    llvm::Value* divisor = b.CreateSelect(none, b.getInt64(1), y);
    llvm::Value *q = b.CreateSDiv(x, divisor), *r = b.CreateSRem(x, divisor);
    llvm::Value* down = b.CreateAnd(b.CreateICmpNE(r, zero), b.CreateICmpSLT(b.CreateXor(r, divisor), zero));
    llvm::Value* result =
        a.kind == Kind::kFloorDiv ? b.CreateSelect(down, b.CreateSub(q, b.getInt64(1)), q) : b.CreateSelect(down, b.CreateAdd(r, divisor), r);
    return b.CreateSelect(none, zero, result);
  }
  llvm::Value* write(const ir::Dim& d) {
    llvm::Value* sum = nullptr;
    for (const ir::Dim::Term& t : d.terms()) {
      llvm::Value* product = nullptr;
      for (const ir::Dim::Atom& a : t.atoms) {
        llvm::Value* v = atom(a);
        product = product ? b.CreateMul(product, v, "", false, true) : v;
      }
      if (t.coefficient != 1) product = b.CreateMul(product, b.getInt64(uint64_t(t.coefficient)), "", false, true);
      sum = sum ? b.CreateAdd(sum, product, "", false, true) : product;
    }
    if (!sum) return b.getInt64(uint64_t(d.constant()));
    return d.constant() ? b.CreateAdd(sum, b.getInt64(uint64_t(d.constant())), "", false, true) : sum;
  }
};

// Stands for an argument of the function until it is known which it has.
llvm::Value* stand_in(llvm::IRBuilder<>& b, llvm::Type* t) { return b.Insert(new llvm::FreezeInst(llvm::PoisonValue::get(t))); }

}  // namespace

CodeEmitter::V CodeEmitter::dim(const ir::Dim& d) {
  if (d.is_const()) return i64(d.value());
  Impl::Frame& f = impl_->frame;
  const std::string key = d.to_string();
  if (auto it = f.dims.find(key); it != f.dims.end()) return it->second;
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(f.entry->getTerminator());
  V v = f.main ? DimWriter{b, impl_->symbols}.write(d) : stand_in(b, b.getInt64Ty());
  f.depth[v] = 0;
  f.dim_of.emplace(key, d);
  return f.dims[key] = v;
}

// ---- memory

CodeEmitter::V CodeEmitter::pointer(int buffer) {
  if (buffer < 0) return fail(core::internal_error("a value that should lie in memory has no buffer"), b.getPtrTy());
  Impl::Frame& f = impl_->frame;
  if (auto it = f.pointers.find(buffer); it != f.pointers.end()) return it->second;
  const Buffer& memory = plan.buffers[size_t(buffer)];
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(f.entry->getTerminator());
  V v = nullptr;
  if (!f.main) {
    v = stand_in(b, b.getPtrTy());  // constants too: equal steps are then one function
  } else if (memory.kind == Buffer::Kind::kConstant && options.embed_constants) {
    llvm::GlobalVariable*& g = impl_->globals[buffer];
    if (!g) {
      const core::Tensor& t = plan.constants[size_t(memory.index)]->literal;
      const llvm::StringRef bytes(static_cast<const char*>(t.raw()), t.byte_size());
      llvm::Constant* data = llvm::ConstantDataArray::getRaw(bytes, bytes.size(), b.getInt8Ty());
      g = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "constant");
      g->setAlignment(llvm::Align(64));
      g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    }
    v = g;
  } else if (memory.kind == Buffer::Kind::kArena) {
    // The size's code may be put behind this point: ask first.
    V offset = dim(memory.offset);
    v = b.CreateInBoundsGEP(b.getInt8Ty(), impl_->arena, offset);
  } else {
    V table = memory.kind == Buffer::Kind::kParameter ? impl_->parameters : memory.kind == Buffer::Kind::kResult ? impl_->results : impl_->constants;
    v = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), table, uint64_t(memory.index)));
  }
  f.depth[v] = 0;
  return f.pointers[buffer] = v;
}

CodeEmitter::V CodeEmitter::pointer(const ir::Instr* i) {
  const int buffer = plan.buffer_of(i);
  if (buffer < 0) return fail(of_instr(core::internal_error("%", i->id, " has no buffer"), i), b.getPtrTy());
  return pointer(buffer);
}

CodeEmitter::V CodeEmitter::scratch(const ir::Instr* i) {
  const auto it = plan.scratch.find(i);
  if (it == plan.scratch.end()) return fail(of_instr(core::internal_error("%", i->id, " has no scratch memory"), i), b.getPtrTy());
  V memory = pointer(it->second);
  return part() ? b.CreateGEP(b.getInt8Ty(), memory, b.CreateMul(part(), dim(scratch_bytes(*i)))) : memory;
}

// ---- parts

CodeEmitter::V CodeEmitter::part() { return impl_->frame.part; }

std::pair<CodeEmitter::V, CodeEmitter::V> CodeEmitter::share(V n, int64_t multiple) {
  const Impl::Frame& f = impl_->frame;
  if (!f.part) return {i64(0), n};
  V units = multiple == 1 ? n : b.CreateUDiv(b.CreateAdd(n, i64(multiple - 1)), i64(multiple));
  const auto until = [&](V k) {
    V at = b.CreateUDiv(b.CreateMul(units, k), f.parts);
    return multiple == 1 ? at : b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b.CreateMul(at, i64(multiple)), n);
  };
  return {until(f.part), until(b.CreateAdd(f.part, i64(1)))};
}

CodeEmitter::V CodeEmitter::part_of_sum(const ir::Instr* i) {
  V result = pointer(i);
  if (!part()) return result;
  // Behind the memory of all parts.
  const ir::Dim one = scratch_bytes(*i), size = (scratch_bytes(*i, plan.threads) - one * plan.threads).value() / (plan.threads - 1);
  V behind = b.CreateGEP(b.getInt8Ty(), pointer(plan.scratch.at(i)),
                         b.CreateAdd(dim(one * plan.threads), b.CreateMul(b.CreateSub(part(), i64(1)), dim(size))));
  return b.CreateSelect(b.CreateIsNull(part()), result, behind);
}

core::Status CodeEmitter::sum_parts(const ir::Instr* i) {
  const ir::Dim one = scratch_bytes(*i), size = (scratch_bytes(*i, plan.threads) - one * plan.threads).value() / (plan.threads - 1);
  V result = pointer(i), sums = b.CreateGEP(b.getInt8Ty(), pointer(plan.scratch.at(i)), dim(one * plan.threads));
  const auto [begin, end] = share(dim(i->type.elements()), 16);
  const core::DType t = i->type.dtype;
  loop(i64(1), impl_->frame.parts, i64(1), {}, false, [&, begin = begin, end = end](V k, const std::vector<V>&) {
    V more = b.CreateGEP(b.getInt8Ty(), sums, mul(sub(k, i64(1)), dim(size)));
    loop(begin, end, i64(1), {}, true, [&](V n, const std::vector<V>&) {
      store(t, combine(ir::Reduce::kSum, t, load(t, result, n), load(t, more, n)), result, n);
      return std::vector<V>();
    });
    return std::vector<V>();
  });
  return impl_->status;
}

// ---- errors

bool CodeEmitter::fails_late() const { return impl_->fails_late; }

void note_failure(CodeEmitter::Impl& impl) {
  impl.may_fail = true;
  impl.fails_late |= impl.wrote_state;
}

namespace {

bool is_state(const Plan& plan, int buffer) {
  if (buffer < 0) return false;
  const Buffer& m = plan.buffers[size_t(buffer)];
  return m.kind == Buffer::Kind::kParameter && plan.module->parameters[size_t(m.index)].kind == ir::Parameter::Kind::kState;
}

bool writes_state(const Plan& plan, const CodeEmitter::Impl& impl, const Step& s) {
  if (s.kind == Step::Kind::kCopy) return is_state(plan, s.copy_to);
  for (const ir::Instr* i : s.instrs) {
    const auto sum = impl.added_to.find(i);
    if (is_state(plan, plan.buffer_of(sum == impl.added_to.end() ? i : sum->second))) return true;
    const auto several = plan.results.find(i);
    if (several == plan.results.end()) continue;
    for (const int b : several->second) {
      if (is_state(plan, b)) return true;
    }
  }
  for (const auto& region : s.regions) {
    for (const Step& inner : region) {
      if (writes_state(plan, impl, inner)) return true;
    }
  }
  return false;
}

}  // namespace

void CodeEmitter::guard_states(const Step& s) {
  if (!writes_state(plan, *impl_, s)) return;
  impl_->wrote_state = true;
  if (!impl_->may_fail) return;
  V error = b.CreateLoad(b.getInt32Ty(), impl_->frame.error);
  llvm::BasicBlock *failed = llvm::BasicBlock::Create(context, "failed", function), *go_on = llvm::BasicBlock::Create(context, "write", function);
  b.CreateCondBr(b.CreateICmpEQ(error, b.getInt32(0)), go_on, failed, llvm::MDBuilder(context).createBranchWeights(1000, 1));
  b.SetInsertPoint(failed);
  b.CreateRet(error);
  b.SetInsertPoint(go_on);
}

void CodeEmitter::error_if(V condition, int message) {
  if (message < 0) return;
  Impl::Frame& f = impl_->frame;
  note_failure(*impl_);
  if (!f.error) {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(f.entry->getTerminator());
    f.error = stand_in(b, b.getPtrTy());
  }
  // Straight code: it may be put in the middle of a block.
  if (target.ptx) {
    // Any of several errors will do, but none may be lost: no reading before. A branch inside of one instruction, as far as LLVM knows.
    llvm::FunctionType* t = llvm::FunctionType::get(b.getVoidTy(), {b.getInt32Ty(), b.getPtrTy(), b.getInt32Ty()}, false);
    b.CreateCall(llvm::InlineAsm::get(t, "{ .reg .pred p; setp.ne.u32 p, $0, 0; @p st.global.u32 [$1], $2; }", "r,l,r", true),
                 {b.CreateZExt(condition, b.getInt32Ty()), f.error, b.getInt32(uint32_t(message + 1))});
    return;
  }
  V now = b.CreateLoad(b.getInt32Ty(), f.error);
  V first = b.CreateAnd(condition, b.CreateICmpEQ(now, b.getInt32(0)));
  b.CreateStore(b.CreateSelect(first, b.getInt32(uint32_t(message + 1)), now), f.error);
}

// ---- functions

namespace {

std::string place_of(const Buffer& m) {
  return m.kind == Buffer::Kind::kArena ? core::cat("arena ", m.offset.to_string()) : core::cat(int(m.kind), " ", m.index);
}

// f(arguments..., part, parts) for all parts: on the pool's threads by way of a function that unpacks the arguments.
void call_in_parts(CodeEmitter& e, llvm::Function* f, std::vector<llvm::Value*> arguments) {
  llvm::IRBuilder<>& b = e.b;
  CodeEmitter::Impl& impl = e.impl();
  llvm::LLVMContext& context = e.context;
  llvm::Type *p = b.getPtrTy(), *i = b.getInt64Ty();
  arguments.push_back(impl.parts);
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : arguments) types.push_back(v->getType());
  llvm::StructType* packed = llvm::StructType::get(context, types);

  auto* some = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {p, i, i}, false), llvm::GlobalValue::InternalLinkage,
                                      core::cat(f->getName().str(), ".parts"), e.module);
  some->addFnAttr(llvm::Attribute::NoUnwind);
  {
    llvm::IRBuilder<> inside(llvm::BasicBlock::Create(context, "", some));
    std::vector<llvm::Value*> values;
    for (unsigned k = 0; k < types.size(); ++k) values.push_back(inside.CreateLoad(types[k], inside.CreateStructGEP(packed, some->getArg(0), k)));
    llvm::Value* begin = some->getArg(1);
    emit_for(inside, inside.CreateSub(some->getArg(2), begin), [&](llvm::Value* k) {
      std::vector<llvm::Value*> all = values;
      all.insert(all.end() - 1, inside.CreateAdd(begin, k));
      inside.CreateCall(f, all);
    });
    inside.CreateRetVoid();
  }

  llvm::Value* memory = nullptr;
  {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(impl.frame.entry->getTerminator());
    memory = b.CreateAlloca(packed);
  }
  e.when(
      b.CreateICmpUGT(impl.parts, b.getInt64(1)),
      [&] {
        for (unsigned k = 0; k < types.size(); ++k) b.CreateStore(arguments[k], b.CreateStructGEP(packed, memory, k));
        // struct Pool of codegen.h
        llvm::Value *run = b.CreateLoad(p, impl.pool), *data = b.CreateLoad(p, b.CreateConstInBoundsGEP1_64(p, impl.pool, 1));
        b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), {p, i, p, p}, false), run, {data, impl.parts, some, memory});
      },
      [&] {
        arguments.back() = b.getInt64(0);
        arguments.push_back(b.getInt64(1));
        b.CreateCall(f, arguments);
      });
}

}  // namespace

core::Status outline(CodeEmitter& e, const std::string& name, bool parallel, const std::function<core::Status()>& body) {
  using Frame = CodeEmitter::Impl::Frame;
  CodeEmitter::Impl& impl = e.impl();
  llvm::LLVMContext& context = e.context;
  Frame outer = std::move(impl.frame);
  const auto point = e.b.saveIP();
  impl.frame = Frame();
  Frame& f = impl.frame;
  llvm::Type* nothing = e.b.getVoidTy();
  f.function = llvm::Function::Create(llvm::FunctionType::get(nothing, false), llvm::GlobalValue::InternalLinkage, "", e.module);
  e.function = f.function;
  f.entry = llvm::BasicBlock::Create(context, "entry", f.function);
  llvm::BasicBlock* code = llvm::BasicBlock::Create(context, "code", f.function);
  e.b.SetInsertPoint(f.entry);
  e.b.CreateBr(code);
  e.b.SetInsertPoint(code);
  f.scopes.emplace_back();
  if (parallel) {
    e.b.SetInsertPoint(f.entry->getTerminator());
    f.part = stand_in(e.b, e.b.getInt64Ty()), f.parts = stand_in(e.b, e.b.getInt64Ty());
    f.depth[f.part] = f.depth[f.parts] = 0;
    e.b.SetInsertPoint(code);
  }
  core::Status s = body();
  if (s.ok()) s = impl.status;
  e.b.CreateRetVoid();
  Frame inner = std::move(impl.frame);
  impl.frame = std::move(outer);
  e.function = impl.frame.function;
  e.b.restoreIP(point);
  if (!s.ok()) return s;

  // The arguments, now that they are known.
  std::vector<llvm::Value*> stand_ins, arguments;
  std::vector<int> buffers;
  for (auto& [buffer, v] : inner.pointers) {
    stand_ins.push_back(v);
    arguments.push_back(e.pointer(buffer));
    buffers.push_back(buffer);
  }
  for (auto& [key, v] : inner.dims) {
    stand_ins.push_back(v);
    arguments.push_back(e.dim(inner.dim_of.at(key)));
  }
  if (inner.error) {
    stand_ins.push_back(inner.error);
    arguments.push_back(impl.frame.error);
  }
  if (parallel) stand_ins.insert(stand_ins.end(), {inner.part, inner.parts});
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : stand_ins) types.push_back(v->getType());
  llvm::Function* old = inner.function;
  llvm::Function* f2 = llvm::Function::Create(llvm::FunctionType::get(nothing, types, false), llvm::GlobalValue::InternalLinkage, name, e.module);
  f2->splice(f2->begin(), old);
  old->eraseFromParent();
  std::map<std::string, int> places;
  for (int buffer : buffers) ++places[place_of(e.plan.buffers[size_t(buffer)])];
  for (size_t k = 0; k < stand_ins.size(); ++k) {
    stand_ins[k]->replaceAllUsesWith(f2->getArg(unsigned(k)));
    llvm::cast<llvm::Instruction>(stand_ins[k])->eraseFromParent();
    const unsigned n = unsigned(k);
    f2->addParamAttr(n, llvm::Attribute::NoUndef);
    if (k < buffers.size()) {
      const Buffer& memory = e.plan.buffers[size_t(buffers[k])];
      if (places[place_of(memory)] == 1) f2->addParamAttr(n, llvm::Attribute::NoAlias);
      if (memory.bytes.is_const() && memory.bytes.value() > 0) {
        f2->addDereferenceableParamAttr(n, uint64_t(memory.bytes.value()));
      }
    } else if (types[k]->isPointerTy()) {
      f2->addParamAttr(n, llvm::Attribute::NoAlias);
      f2->addDereferenceableParamAttr(n, 4);
    }
  }
  f2->addFnAttr(llvm::Attribute::NoInline);
  f2->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  f2->addFnAttr(llvm::Attribute::NoUnwind);
  // Parts that note errors would do so at the same time.
  if (parallel && !inner.error) call_in_parts(e, f2, std::move(arguments));
  else if (parallel) arguments.insert(arguments.end(), {e.i64(0), e.i64(1)}), e.b.CreateCall(f2, arguments);
  else e.b.CreateCall(f2, arguments);
  return {};
}

core::Status CodeEmitter::run() {
  llvm::Type* p = b.getPtrTy();
  llvm::FunctionType* signature = llvm::FunctionType::get(b.getInt32Ty(), {p, p, p, p, p, p}, false);
  function = llvm::Function::Create(signature, llvm::GlobalValue::ExternalLinkage, symbol, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  static const char* const kNames[] = {"parameters", "results", "constants", "symbols", "arena", "pool"};
  for (unsigned k = 0; k < 6; ++k) function->getArg(k)->setName(kNames[k]);
  impl_->parameters = function->getArg(0);
  impl_->results = function->getArg(1);
  impl_->constants = function->getArg(2);
  impl_->symbols = function->getArg(3);
  impl_->arena = function->getArg(4);
  Impl::Frame& f = impl_->frame;
  f.main = true;
  f.function = function;
  f.entry = llvm::BasicBlock::Create(context, "entry", function);
  llvm::BasicBlock* code = llvm::BasicBlock::Create(context, "code", function);
  b.SetInsertPoint(f.entry);
  f.error = b.CreateAlloca(b.getInt32Ty());
  b.CreateStore(b.getInt32(0), f.error);
  impl_->pool = function->getArg(5);
  if (plan.threads > 1) {
    V threads = options.stoppable ? b.CreateLoad(p, impl_->pool) : impl_->pool;
    impl_->parts = b.CreateSelect(b.CreateIsNull(threads), i64(1), i64(plan.threads));
    f.depth[impl_->parts] = 0;
  }
  b.CreateBr(code);
  b.SetInsertPoint(code);
  f.scopes.emplace_back();
  WEFT_RETURN_IF_ERROR(steps(plan.steps));
  b.CreateRet(b.CreateLoad(b.getInt32Ty(), f.error));
  return impl_->status;
}

core::Status of_instr(const core::Status& status, const ir::Instr* i) {
  constexpr char kNoteNode[] = "weft/node_of_code";  // it is in the message already
  if (!i || i->node.empty() || core::find_note(status, kNoteNode)) return status;
  return status.with_suffix(core::cat(" (node ", i->node, ")")).with_payload(kNoteNode, i->node);
}

core::Status of_step(const core::Status& status, const Step& s) {
  return of_instr(status, s.kind == Step::Kind::kCopy ? s.copy_from : s.instrs.empty() ? nullptr : s.instrs[0]);
}

core::Status CodeEmitter::steps(std::span<const Step> s) {
  find_accumulations(plan, s, *impl_);
  for (const Step& x : s) {
    if (s.data() == plan.steps.data()) guard_states(x);
    core::Status status = step(x);
    if (status.ok()) status = impl_->status;
    if (!status.ok()) return of_step(status, x);
  }
  return {};
}

namespace {

bool is_tiny(const ir::Type& t) {
  const ir::Dim n = t.elements();
  return n.is_const() && n.value() <= 4;
}

}  // namespace

core::Status CodeEmitter::step(const Step& s) {
  const auto together = [&](const ir::Instr* i) { return plan.threads > 1 && worth_threads(*i); };
  const auto inside = [&](const char* what, const std::function<core::Status()>& body, bool parallel = false) -> core::Status {
    impl_->current.clear();
    const std::string name = core::cat(symbol, ".", impl_->next++, ".", what);
    if (!impl_->frame.main) return core::internal_error("steps inside of steps");
    return outline(*this, name, parallel, body);
  };
  // Scalars: not worth a call.
  const auto here = [&](const std::function<core::Status()>& body) -> core::Status {
    impl_->current.clear();
    push_scope(impl_->frame, nullptr, true);
    const core::Status status = body();
    pop_scope(impl_->frame);
    return status;
  };
  using Op = ir::Op;
  switch (s.kind) {
    case Step::Kind::kWhile: return emit_while(s);
    case Step::Kind::kIf: return emit_if(s);
    case Step::Kind::kCopy:
      if (is_tiny(s.copy_from->type)) return here([&] { return emit_copy(s); });
      return inside("copy", [&] { return emit_copy(s); });
    case Step::Kind::kLoop: {
      if (impl_->done.count(&s)) return {};
      bool tiny = s.instrs.size() < 30;
      for (const ir::Instr* i : s.instrs) tiny = tiny && is_tiny(i->type);
      if (tiny) return here([&] { return emit_loop(s); });
      bool parallel = !s.instrs.empty() && together(s.instrs.back());
      for (const ir::Instr* i : s.instrs) parallel = parallel && i->op != Op::kConcat && i->op != Op::kTranspose;  // these have ways of their own
      return inside("loop", [&] { return emit_loop(s); }, parallel);
    }
    case Step::Kind::kRows: return core::internal_error("rows are for GPUs");
    case Step::Kind::kInstr: break;
  }
  if (s.instrs.empty()) return core::internal_error("a step without an instruction");
  const ir::Instr* i = s.instrs[0];
  if (i->op == ir::Op::kAttention || i->op == ir::Op::kAttentionGrad) return core::internal_error("attention as one instruction is for GPUs");
  switch (i->op) {
    case Op::kReduce: return inside("reduce", [&] { return emit_reduce(i); }, together(i));
    case Op::kArgReduce: return inside("arg_reduce", [&] { return emit_arg_reduce(i); });
    case Op::kScan: return inside("scan", [&] { return emit_scan(i); });
    case Op::kSort: return inside("sort", [&] { return emit_sort(i); });
    case Op::kScatter: return inside("scatter", [&] { return emit_scatter(i); });
    case Op::kDynamicUpdate: return inside("update", [&] { return emit_dynamic_update(i); });
    case Op::kDot: return inside("dot", [&] { return emit_dot(i); }, together(i));
    case Op::kConv: return inside("conv", [&] { return emit_conv(i); }, together(i));
    case Op::kConvFilterGrad: {
      const core::Status status = inside("conv_filter_grad", [&] { return emit_conv_filter_grad(i); }, together(i));
      return status.ok() && together(i) ? inside("sum", [&] { return sum_parts(i); }, true) : status;
    }
    case Op::kWindow: return inside("window", [&] { return emit_window(i); }, together(i));
    case Op::kMaxPoolGrad: return inside("max_pool_grad", [&] { return emit_max_pool_grad(i); }, together(i));
    case Op::kCheck:
      return here([&]() -> core::Status {
        error_if(b.CreateNot(element(i->operands[0], {})), i->message);
        return {};
      });
    default: return inside("loop", [&] { return emit_loop(s); });
  }
}

}  // namespace weft_engine::compiler
