// Products of matrices as LLVM code: C[m, n] (+)= sum of A[m, k] B[k, n], B's and C's rows contiguous. The work is done by micro-kernels,
// internal functions that keep a tile of C in registers while they run along k; products of one module share them. Written on LLVM's
// builder alone, so that convolutions and tests use it too.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <string>

#include "compiler/llvm/code_emitter.h"

namespace weft_engine::compiler {

// Numbers are i64 values, in elements; constants make better code.
struct Product {
  llvm::Type* element = nullptr;  // float, double or an integer
  llvm::Value *a = nullptr, *b = nullptr, *c = nullptr;
  bool a_columns = false;                                // A's columns are contiguous, not its rows
  llvm::Value* a_stride = nullptr;                       // between A's rows (its columns if a_columns)
  llvm::Value *b_stride = nullptr, *c_stride = nullptr;  // between rows
  llvm::Value *m = nullptr, *n = nullptr, *k = nullptr;
  int64_t m_multiple = 1;  // m, where it is not constant, is a multiple of this
  // A may jump: k runs `outer` times over a further block of A, each `a_outer` elements behind the last; B goes on as it is.
  llvm::Value *outer = nullptr, *a_outer = nullptr;  // null: once
  // Memory (scratch.h says how much) for a panel of B, and for transposed rows of A (not with `outer`): copied part by part, or null.
  llvm::Value *pack = nullptr, *pack_a = nullptr;
  bool accumulate = false;                           // into what C holds
};

void emit_product(llvm::IRBuilder<>& b, const Target& target, const Product& p);

// C[m, n] = sum of A[m, k] B[n, k], both with contiguous k: for few rows, where turning B round would cost more than the product.
void emit_product_rows(llvm::IRBuilder<>& b, const Target& target, const Product& p);

// to[c, r] = from[r, c]; strides between rows.
void emit_transpose(llvm::IRBuilder<>& b, const Target& target, llvm::Type* element, llvm::Value* from, llvm::Value* from_stride, llvm::Value* to,
                    llvm::Value* to_stride, llvm::Value* rows, llvm::Value* columns);

// for (i = 0; i < end; i += step) body(i); the builder stands behind it afterwards.
void emit_for(llvm::IRBuilder<>& b, llvm::Value* end, llvm::Value* step, const std::function<void(llvm::Value* i)>& body);
void emit_for(llvm::IRBuilder<>& b, llvm::Value* end, const std::function<void(llvm::Value* i)>& body);
void emit_when(llvm::IRBuilder<>& b, llvm::Value* condition, const std::function<void()>& then);

// An internal function whose first arguments are pointers that do not overlap: `reads`, then `writes`.
llvm::Function* internal_function(llvm::Module& m, const std::string& name, llvm::FunctionType* type, int reads, int writes, const Target& target);

// ---- shared by gemm.cc and conv.cc
// What elements are computed as; null for types without products.
llvm::Type* product_type(CodeEmitter& e, core::DType t);
// A number that a size is always a multiple of.
int64_t multiple_of(const ir::Dim& d);
void copy_as_float(CodeEmitter& e, core::DType from, llvm::Value* p, llvm::Value* to, llvm::Value* elements);
void copy_from_float(CodeEmitter& e, core::DType to, llvm::Value* p, llvm::Value* into, llvm::Value* elements);

}  // namespace weft_engine::compiler
