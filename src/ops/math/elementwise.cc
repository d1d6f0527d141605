#include "ops/math/elementwise.h"

#include <atomic>
#include <cstring>

#include "kernels/cpu/broadcast.h"
#include "kernels/cpu/narrow.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using kernels::Broadcast;

namespace {

constexpr int64_t kStreamBlock = 1024;  // elements computed before they are sent to memory
constexpr int64_t kBlock = 512;  // floats that a narrow type is widened to at a time

const uint16_t* bits(const char* p) { return reinterpret_cast<const uint16_t*>(p); }
uint16_t* bits(char* p) { return reinterpret_cast<uint16_t*>(p); }

// A loop with all that it takes to call it for one type: narrow floats go through float unless they
// have a loop of their own.
struct BinaryCall {
  kernels::BinaryLoop loop = nullptr;
  kernels::BinaryRowsLoop rows = nullptr;
  kernels::WidenLoop widen = nullptr;
  kernels::NarrowLoop narrow = nullptr;  // null if the result is not of the narrow type
  size_t in_size = 0, out_size = 0;
  double cost = 0;

  static BinaryCall make(Binary f, DType in, DType out) {
    BinaryCall call;
    call.loop = kernels::binary_loop(f, in);
    call.rows = kernels::binary_rows_loop(f, in);
    if (!call.loop && (call.widen = kernels::widen_loop(in))) {
      call.loop = kernels::binary_loop(f, DType::kFloat);
      if (out == in) call.narrow = kernels::narrow_loop(in);
    }
    call.in_size = dtype_size(in);
    call.out_size = dtype_size(out);
    call.cost = kernels::binary_cost(f, in) + (call.widen ? 0.5 : 0);
    return call;
  }

  bool operator()(const char* a, const char* b, char* out, int64_t n, int sa, int sb) const {
    if (!widen) [[likely]]
      return loop(a, b, out, n, sa, sb);
    return through_float(a, b, out, n, sa, sb);
  }

  bool through_float(const char* a, const char* b, char* out, int64_t n, int sa, int sb) const {
    float wide_a[kBlock], wide_b[kBlock], wide_out[kBlock];
    if (!sa) widen(bits(a), wide_a, 1);
    if (!sb) widen(bits(b), wide_b, 1);
    bool ok = true;
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      if (sa) widen(bits(a) + i, wide_a, m);
      if (sb) widen(bits(b) + i, wide_b, m);
      char* to = out + size_t(i) * out_size;
      ok &= loop(wide_a, wide_b, narrow ? static_cast<void*>(wide_out) : to, m, sa, sb);
      if (narrow) narrow(wide_out, bits(to), m);
    }
    return ok;
  }
};

Status no_result(const KernelContext& c) {
  const std::string_view op = c.node().op();
  if (op == "Pow") return invalid_argument("Integers to negative integer powers are not allowed");
  if (op == "TruncateDiv" || op == "TruncateMod")
    return internal_error("Unexpected error in binary operator (only integer div and mod should have errors)");
  return invalid_argument("Integer division by zero");
}

class BinaryKernel final : public Kernel {
 public:
  enum class Match { kBroadcast, kBroadcastOrUnequal, kSameCount, kSameShape };

  static Result<std::unique_ptr<Kernel>> make(const NodeInfo& node, Binary f, Match match) {
    auto k = std::make_unique<BinaryKernel>();
    k->call_ = BinaryCall::make(f, base_type(node.input_types()[0]), base_type(node.output_types()[0]));
    if (!k->call_.loop) return unimplemented("no kernel of ", node.op(), " for type ", dtype_name(node.input_types()[0]));
    k->match_ = match == Match::kBroadcastOrUnequal && node.attr<bool>("incompatible_shape_error") ? Match::kBroadcast : match;
    k->unequal_ = f == Binary::kNotEqual;
    return std::unique_ptr<Kernel>(std::move(k));
  }

  Status run(KernelContext& c) override {
    const Tensor& a = c.input(0);
    const Tensor& b = c.input(1);
    if (a.shape() == b.shape()) return flat(c, a.shape(), 1, 1);
    if (match_ == Match::kSameShape) return not_same_shape(c, 0, 1);
    if (match_ == Match::kSameCount) {
      if (a.num_elements() == b.num_elements()) return flat(c, a.shape(), 1, 1);
      return invalid_argument("The two arguments to a cwise op must have same number of elements, got ", a.num_elements(), " and ", b.num_elements());
    }
    if (b.rank() <= a.rank() && b.num_elements() == 1) return flat(c, a.shape(), 1, 0);
    if (a.rank() <= b.rank() && a.num_elements() == 1) return flat(c, b.shape(), 0, 1);
    return broadcast(c);
  }

 private:
  // No broadcasting but of a whole operand.
  Status flat(KernelContext& c, const Shape& shape, int sa, int sb) const {
    auto out = c.allocate_or_reuse(0, shape, sa ? 0 : 1, sb ? 1 : 0);
    if (!out.ok()) [[unlikely]]
      return out.status();
    const char* a = static_cast<const char*>(c.input(0).raw());
    const char* b = static_cast<const char*>(c.input(1).raw());
    char* o = static_cast<char*>((*out)->raw());
    const int64_t n = shape.num_elements();
    if (double(n) * call_.cost < 10'000) {
      if (n > 0 && !call_(a, b, o, n, sa, sb)) [[unlikely]]
        return no_result(c);
      return {};
    }
    std::atomic<bool> ok = true;
    const bool stream = size_t(n) * call_.out_size >= kernels::kStreamFrom && o != a && o != b;
    c.pool().parallel_for(n, call_.cost, [&](int64_t begin, int64_t end) {
      alignas(64) char block[kStreamBlock * 16];
      const int64_t step = stream ? kStreamBlock : end - begin;
      for (int64_t i = begin; i < end; i += step) {
        const int64_t count = std::min(step, end - i);
        const size_t at = size_t(i) * call_.in_size;
        char* to = o + size_t(i) * call_.out_size;
        if (!call_(a + (sa ? at : 0), b + (sb ? at : 0), stream ? block : to, count, sa, sb)) ok = false;
        if (stream) kernels::stream_copy(to, block, size_t(count) * call_.out_size);
      }
    });
    return ok ? Status() : no_result(c);
  }

  Status broadcast(KernelContext& c) const {
    const Tensor& a = c.input(0);
    const Tensor& b = c.input(1);
    const auto shape = kernels::broadcast_shape(a.shape(), b.shape());
    if (!shape) {
      if (match_ != Match::kBroadcastOrUnequal) return invalid_argument("Incompatible shapes: ", a.shape(), " vs. ", b.shape());
      WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
      out->data<bool>()[0] = unequal_;
      return {};
    }
    WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, *shape, 0, 1));
    const int64_t n = shape->num_elements();
    if (n == 0) return {};
    const Shape* const shapes[] = {&a.shape(), &b.shape()};
    const Broadcast walk(*shape, shapes);
    const int sa = walk.inner_stride(0), sb = walk.inner_stride(1);
    const char* pa = static_cast<const char*>(a.raw());
    const char* pb = static_cast<const char*>(b.raw());
    char* po = static_cast<char*>(out->raw());
    if (walk.repeated_row() >= 0 && walk.inner_size() <= kShortRow && call_.in_size <= 16)
      return repeat_row(c, pa, pb, po, n, walk.repeated_row(), walk.inner_size());
    if (const auto rows = call_.rows ? walk.rows() : std::nullopt; rows && rows->rows > 1 && rows->n < kLongRow) {
      for_parts(c, rows->rows, call_.cost * double(rows->n) + 2, [&](int64_t begin, int64_t end) {
        kernels::BinaryRows part = *rows;
        part.rows = end - begin;
        call_.rows(pa + size_t(begin * part.row_stride[0]) * call_.in_size, pb + size_t(begin * part.row_stride[1]) * call_.in_size,
                   po + size_t(begin * part.n) * call_.out_size, part);
      });
      return {};
    }
    std::atomic<bool> ok = true;
    for_parts(c, n, call_.cost, [&](int64_t begin, int64_t end) {
      bool fine = true;
      walk.for_runs(begin, end, [&](const Broadcast::Offsets& from, int64_t to, int64_t count) {
        fine &=
            call_(pa + size_t(from.at[0]) * call_.in_size, pb + size_t(from.at[1]) * call_.in_size, po + size_t(to) * call_.out_size, count, sa, sb);
      });
      if (!fine) ok = false;
    });
    return ok ? Status() : no_result(c);
  }

  // Short rows (the channels of an image): the row is written out many times, to make one long loop.
  Status repeat_row(KernelContext& c, const char* a, const char* b, char* out, int64_t n, int which, int64_t row) const {
    alignas(64) char tile[kShortRow * 16 * 16];
    const size_t row_bytes = size_t(row) * call_.in_size;
    const int64_t copies = std::min(int64_t(sizeof tile / row_bytes), n / row), block = copies * row;
    for (int64_t i = 0; i < copies; ++i) std::memcpy(tile + size_t(i) * row_bytes, which ? b : a, row_bytes);
    std::atomic<bool> ok = true;
    for_parts(c, (n + block - 1) / block, call_.cost * double(block), [&](int64_t begin, int64_t end) {
      bool fine = true;
      for (int64_t i = begin * block; i < std::min(n, end * block); i += block) {
        const size_t at = size_t(i) * call_.in_size;
        fine &= call_(which ? a + at : tile, which ? tile : b + at, out + size_t(i) * call_.out_size, std::min(block, n - i), 1, 1);
      }
      if (!fine) ok = false;
    });
    return ok ? Status() : no_result(c);
  }

  static constexpr int64_t kShortRow = 32, kLongRow = 1 << 14;
  BinaryCall call_;
  Match match_ = Match::kBroadcast;
  bool unequal_ = false;
};

class UnaryKernel final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(const NodeInfo& node, Unary f) {
    const DType in = base_type(node.input_types()[0]), out = base_type(node.output_types()[0]);
    auto k = std::make_unique<UnaryKernel>();
    k->loop_ = kernels::unary_loop(f, in);
    if (!k->loop_ && (k->widen_ = kernels::widen_loop(in))) {
      k->loop_ = kernels::unary_loop(f, DType::kFloat);
      if (out == in) k->narrow_ = kernels::narrow_loop(in);
    }
    if (!k->loop_) return unimplemented("no kernel of ", node.op(), " for type ", dtype_name(in));
    k->in_size_ = dtype_size(in);
    k->out_size_ = dtype_size(out);
    k->cost_ = kernels::unary_cost(f, in) + (k->widen_ ? 0.5 : 0);
    return std::unique_ptr<Kernel>(std::move(k));
  }

  Status run(KernelContext& c) override {
    const Tensor& in = c.input(0);
    auto out = c.allocate_or_reuse(0, in.shape(), 0);
    if (!out.ok()) [[unlikely]]
      return out.status();
    const char* from = static_cast<const char*>(in.raw());
    char* to = static_cast<char*>((*out)->raw());
    const int64_t n = in.num_elements();
    if (n == 0) return {};
    const bool stream = size_t(n) * out_size_ >= kernels::kStreamFrom && to != from;
    for_parts(c, n, cost_, [&](int64_t begin, int64_t end) {
      if (!stream) return part(from + size_t(begin) * in_size_, to + size_t(begin) * out_size_, end - begin);
      alignas(64) char block[kStreamBlock * 16];
      for (int64_t i = begin; i < end; i += kStreamBlock) {
        const int64_t count = std::min(kStreamBlock, end - i);
        part(from + size_t(i) * in_size_, block, count);
        kernels::stream_copy(to + size_t(i) * out_size_, block, size_t(count) * out_size_);
      }
    });
    return {};
  }

 private:
  void part(const char* in, char* out, int64_t n) const {
    if (!widen_) return loop_(in, out, n);
    float wide[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      widen_(bits(in) + i, wide, m);
      char* to = out + size_t(i) * out_size_;
      if (narrow_) {
        loop_(wide, wide, m);
        narrow_(wide, bits(to), m);
      } else {
        loop_(wide, to, m);
      }
    }
  }

  kernels::UnaryLoop loop_ = nullptr;
  kernels::WidenLoop widen_ = nullptr;
  kernels::NarrowLoop narrow_ = nullptr;
  size_t in_size_ = 0, out_size_ = 0;
  double cost_ = 0;
};

}  // namespace

KernelFactory unary(Unary f) {
  return [f](const NodeInfo& node) { return UnaryKernel::make(node, f); };
}
KernelFactory binary(Binary f) {
  return [f](const NodeInfo& node) { return BinaryKernel::make(node, f, BinaryKernel::Match::kBroadcast); };
}
KernelFactory equality(Binary f) {
  return [f](const NodeInfo& node) { return BinaryKernel::make(node, f, BinaryKernel::Match::kBroadcastOrUnequal); };
}
KernelFactory same_count(Binary f) {
  return [f](const NodeInfo& node) { return BinaryKernel::make(node, f, BinaryKernel::Match::kSameCount); };
}
KernelFactory same_shape(Binary f) {
  return [f](const NodeInfo& node) { return BinaryKernel::make(node, f, BinaryKernel::Match::kSameShape); };
}

OpTraits elementwise(Unary f, OpTraits more) {
  more.elementwise = true;
  if (kernels::keeps_type(f)) more.scalar = {kernels::name_of(f), 1};
  return more;
}

OpTraits elementwise(Binary f, OpTraits more) {
  more.elementwise = true;
  if (kernels::keeps_type(f)) more.scalar = {kernels::name_of(f), 2};
  return more;
}

OpTraits broadcasting(Binary f, OpTraits more) {
  more.broadcasts = true;
  return elementwise(f, more);
}

Status not_same_shape(const KernelContext& c, int i, int j) {
  const std::string_view name = c.node().name().empty() ? c.node().op() : std::string_view(c.node().name());
  return invalid_argument("Inputs to operation ", name, " of type ", c.node().op(), " must have the same size and shape.  Input ", i, ": ",
                          c.input(i).shape(), " != input ", j, ": ", c.input(j).shape());
}

}  // namespace weft_engine::ops
