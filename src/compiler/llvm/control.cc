// Loops and branches of the model itself.
#include "compiler/llvm/code_emitter_impl.h"

namespace weft_engine::compiler {

// The condition's steps, its value, the body's steps, again. Ends at the first error too: a loop that waits for data which an error
// has spoilt might never end.
core::Status CodeEmitter::emit_while(const Step& s) {
  const ir::Instr* i = s.instrs[0];
  Impl::Frame& f = impl_->frame;
  if (s.regions.size() != 2 || i->regions.empty() || i->regions[0]->results.empty()) return core::internal_error("a loop without condition or body");
  llvm::BasicBlock* test = llvm::BasicBlock::Create(context, "while", function);
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context, "body", function);
  llvm::BasicBlock* behind = llvm::BasicBlock::Create(context, "end", function);
  b.CreateBr(test);
  b.SetInsertPoint(test);
  push_scope(f, nullptr, true);
  core::Status status = steps(s.regions[0]);
  if (status.ok()) {
    impl_->current.clear();
    push_scope(f, nullptr, true);
    const ir::Instr* condition = i->regions[0]->results[0];
    V go = element(condition, Index(size_t(condition->rank()), i64(0)));
    pop_scope(f);
    if (options.stoppable) {
      note_failure(*impl_);
      // struct Pool of codegen.h
      llvm::Type* p = b.getPtrTy();
      V ask = b.CreateLoad(p, b.CreateConstInBoundsGEP1_64(p, impl_->pool, 2)),
        data = b.CreateLoad(p, b.CreateConstInBoundsGEP1_64(p, impl_->pool, 1));
      V stop = b.CreateICmpNE(b.CreateCall(llvm::FunctionType::get(b.getInt32Ty(), {p}, false), ask, {data}), b.getInt32(0));
      V error = b.CreateLoad(b.getInt32Ty(), f.error);
      stop = b.CreateAnd(stop, b.CreateICmpEQ(error, b.getInt32(0)));
      b.CreateStore(b.CreateSelect(stop, b.getInt32(uint32_t(kStopped)), error), f.error);
    }
    if (!plan.module->messages.empty() || options.stoppable)
      go = b.CreateAnd(go, b.CreateICmpEQ(b.CreateLoad(b.getInt32Ty(), f.error), b.getInt32(0)));
    b.CreateCondBr(go, body, behind);
    b.SetInsertPoint(body);
    status = steps(s.regions[1]);
    b.CreateBr(test);
  }
  pop_scope(f);
  b.SetInsertPoint(behind);
  return status;
}

core::Status CodeEmitter::emit_if(const Step& s) {
  const ir::Instr* i = s.instrs[0];
  Impl::Frame& f = impl_->frame;
  if (s.regions.empty()) return core::internal_error("a branch without regions");
  const ir::Instr* which = i->operands[0];
  impl_->current.clear();
  push_scope(f, nullptr, true);
  V number = element(which, Index(size_t(which->rank()), i64(0)));
  pop_scope(f);
  llvm::BasicBlock* behind = llvm::BasicBlock::Create(context, "end", function);
  std::vector<llvm::BasicBlock*> blocks;
  for (size_t k = 0; k < s.regions.size(); ++k) blocks.push_back(llvm::BasicBlock::Create(context, "branch", function));
  if (which->type.dtype == core::DType::kBool) {
    if (blocks.size() != 2) return core::internal_error("a branch by a bool needs two regions");
    b.CreateCondBr(number, blocks[1], blocks[0]);  // region 0 is "false"
  } else {
    llvm::SwitchInst* choice = b.CreateSwitch(number, blocks.back(), unsigned(blocks.size()));
    for (size_t k = 0; k + 1 < blocks.size(); ++k) {
      choice->addCase(llvm::cast<llvm::ConstantInt>(llvm::ConstantInt::get(number->getType(), k)), blocks[k]);
    }
  }
  for (size_t k = 0; k < blocks.size(); ++k) {
    b.SetInsertPoint(blocks[k]);
    push_scope(f, nullptr, true);
    const core::Status status = steps(s.regions[k]);
    pop_scope(f);
    if (!status.ok()) return status;
    b.CreateBr(behind);
  }
  b.SetInsertPoint(behind);
  return {};
}

}  // namespace weft_engine::compiler
