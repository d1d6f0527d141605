// The compiler's IR: tensors as values, each the result of one instruction. Functional: nothing is overwritten; what a
// model changes (variables) comes in as a parameter and goes out as a result. Instructions of a region stand in an
// order in which they can run, and may read values of the regions around theirs.
//
//   Module -> main Region -> Instr -> (While, If) Regions
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/tensor.h"
#include "ir/dim.h"

namespace weft_engine::ir {

using core::DType;
using core::Tensor;

bool is_float8(DType t);  // moved and converted (builder_float8.cc), never computed with
// Complex numbers are moved as they are; the builder computes with their parts (builder_complex.cc).
DType part_type(DType complex);   // float of complex64
DType complex_type(DType part);

struct Type {
  DType dtype = DType::kInvalid;
  std::vector<Dim> dims;
  int rank() const { return int(dims.size()); }
  Dim elements() const { return product(dims); }
  bool operator==(const Type&) const = default;
  std::string to_string() const;  // "float[s0, 10]"
};

enum class Op : uint8_t {
  kParameter,     // number `index` of its region
  kConstant,      // `literal`
  kSizes,         // the numbers `known` (int32 or int64, rank 0 or 1), from the sizes of the call
  kIota,          // 0, 1, 2 ... along axes[0]
  kUnary,         // `unary`
  kBinary,        // `binary`; both operands of one type
  kCompare,       // `compare`; gives bool
  kSelect,        // operand 0 (bool) ? 1 : 2, all of one shape
  kConvert,       // to type.dtype: floats to ints by truncation, to bool by != 0
  kBitcast,       // the same bits as a type of the same width
  kBroadcast,     // dimension i of the operand becomes axes[i] (ascending) of the result; sizes of 1 are repeated
  kReshape,       // the same elements in the same order
  kTranspose,     // dimension i of the result is axes[i] of the operand
  kSlice,         // from starts[i], every steps[i]-th (> 0); type.dims says how many
  kPad,           // operand 1 (scalar) around operand 0: low[i] before, high[i] behind (may be negative), interior[i] between
  kConcat,        // along axes[0]
  kReverse,       // along axes
  kDynamicSlice,  // operand 0 from the scalars 1.. (int64, one a dimension), type.dims elements; starts are clamped as to fit
  kDynamicUpdate, // operand 0 with operand 1 written at the scalars 2.. (int64, clamped); as it is where operand 1 does not fit
  kGather,        // operand 0 with its dimension axes[0] indexed by operand 1 (int32 or int64), the first `batch` dimensions of
                  // both going along: dims = x[:axis] + indices[batch:] + x[axis+1:]. Outside: 0, and error `message` (if >= 0)
  kScatter,       // operand 0 with rows (dimension 0) number operand 1 (rank 1) combined (`reduce`, or kSet) with those of
                  // operand 2, one after the other. Outside: skipped, and error `message` (if >= 0)
  kReduce,        // `reduce` over axes (ascending; they vanish)
  kArgReduce,     // the index of the first kMax or kMin along axes[0] (vanishes); type.dtype int32 or int64
  kWindow,        // `reduce` over `window` of a tensor [batch, spatial..., channels]; kMean: of what lies inside
  kMaxPoolGrad,   // operands x, dy: dy goes to the first largest element of each window of x
  kScan,          // running `reduce` along axes[0]; `reverse`, `exclusive`
  kSort,          // along the last dimension, descending by value if `reverse`, equal ones in order; results: values, int32 places (kGet)
  kDot,           // [batch..., m, k] x [batch..., k, n], either stored with its last two dimensions swapped (transpose_a, _b)
  kConv,          // [batch, spatial..., c] by a filter [spatial..., c / groups, out]: `window`; `index`: its FilterForm
  kConvFilterGrad,// operands x, dy; gives the filter's gradient; `window` is that of the forward convolution; `index`: the gradient's FilterForm
  kPhilox,        // uint32 numbers of Philox 4x32-10: operand 0 is the key (uint64 scalar), 1 the counter (uint64[2])
  kWhile,  // regions: condition, body; as many parameters and results as operands; results by kGet; starts[0]: how often it turns, if that is known
  kIf,  // operand 0: bool (region 0 is "false"), or an int32 number of a region (outside: the last); regions take no parameters; results by kGet
  kGet,  // result number `index` of operand 0
  kCheck,  // operand 0 (bool scalar) must hold, or the call ends with error `message`; no result
  kAttention,  // ir/attention.h: only the passes for GPUs make one; results by kGet
  kAttentionGrad,  // likewise
};

enum class Unary : uint8_t {
  kNeg,
  kAbs,
  kSign,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSqrt,
  kRsqrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kLogistic,
  kErf,
  kErfc,
  kLgamma,
  kFloor,
  kCeil,
  kRound /* half to even */,
  kTrunc,
  kNot /* bool: logical; ints: bits */,
  kIsNan,
  kIsInf,
  kIsFinite,
  kPopcount,
  kReal /* a complex number's parts */,
  kImag,
};
enum class Binary : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv /* ints: towards zero; by zero: 0 and error `message` */,
  kFloorDiv,
  kMod /* sign of the left */,
  kFloorMod,
  kPow,
  kMax,
  kMin /* NaN if one is */,
  kAtan2,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr /* outside the width: as at the width - 1 */,
  kComplex /* a number of the two parts */,
};
enum class Compare : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
enum class Reduce : uint8_t { kSum, kProd, kMax, kMin, kAnd, kOr, kMean /* kWindow only */, kSet, kSub, kDiv /* these: kScatter only */ };

struct Window {
  std::vector<int64_t> size, stride, dilation;  // one a spatial dimension; size of a convolution is the filter's
  std::vector<int64_t> base_dilation;  // holes between the input's elements (kConv: gradients with strides); all 1 if not
  std::vector<Dim> low, high;  // padding
  int64_t groups = 1;
  bool winograd = false;  // kConv: operand 1, kConvFilterGrad: the result is the filter as winograd.cc has it, [6, 6, c, out]
};

struct Region;

struct Instr {
  Op op = Op::kParameter;
  int id = 0;  // unique in the module
  Type type;  // of the one result; kWhile, kIf, kSort: see `results`
  std::vector<Instr*> operands;
  Unary unary = Unary::kNeg;
  Binary binary = Binary::kAdd;
  Compare compare = Compare::kEq;
  Reduce reduce = Reduce::kSum;
  bool reverse = false, exclusive = false, transpose_a = false, transpose_b = false;
  int index = 0, batch = 0;
  int message = -1;  // Module::messages
  std::vector<int> axes;
  std::vector<Dim> starts, low, high;
  std::vector<int64_t> steps, interior;
  Window window;
  Tensor literal;
  std::vector<Type> results;
  std::vector<std::unique_ptr<Region>> regions;
  // The elements of a small integer tensor, where they follow from the sizes of the call.
  std::optional<std::vector<Dim>> known;
  std::string node;  // of the graph, for people
  Region* parent = nullptr;

  const Dim& dim(int i) const { return type.dims[size_t(i)]; }
  int rank() const { return type.rank(); }
  const Instr& operand(int i) const { return *operands[size_t(i)]; }
};
using Value = Instr*;

// How the filter of a convolution is stored: [spatial..., c / groups, out]; [out, spatial..., c / groups]; or kConv is the gradient of a convolution of one group whose
// filter is [c, spatial..., out], and takes it reversed.
enum class FilterForm : int { kPlain, kOutputChannelsFirst, kOfForward };
inline FilterForm filter_form(const Instr& convolution) { return FilterForm(convolution.index); }
// How often a loop turns, where that follows from the sizes of the call; null: it does not.
inline const Dim* trips_of(const Instr& loop) { return loop.starts.empty() ? nullptr : &loop.starts[0]; }

struct Region {
  std::vector<std::unique_ptr<Instr>> instrs;
  std::vector<Instr*> parameters, results;
  Instr* owner = nullptr;  // null: the module's main region
};

// What the caller hands in and gets.
struct Parameter {
  enum class Kind : uint8_t { kInput, kState };
  Kind kind = Kind::kInput;
  std::string name;
  Type type;
};
struct Result {
  std::string name;
  int state = -1;  // the parameter (a kState) whose new value this is; -1: an output
};
struct Symbol {
  std::string name;  // "batch"
  int parameter = 0, dim = 0;  // where its number is read
};
// Sizes that the code assumes to be equal and that the caller's numbers must bear out.
struct Guard {
  Dim a, b;
  std::string text;
};

struct Module {
  std::string name;
  std::unique_ptr<Region> main = std::make_unique<Region>();  // its parameters are `parameters`, its results `results`
  std::vector<Parameter> parameters;
  std::vector<Result> results;
  std::vector<Symbol> symbols;
  std::vector<Guard> guards;
  std::vector<std::string> messages;  // of errors that calls can end with
  int next_id = 0;
};

bool is_elementwise(Op op);  // kUnary, kBinary, kCompare, kSelect, kConvert, kBitcast
std::string_view name_of(Op op);
std::string_view name_of(Unary op);
std::string_view name_of(Binary op);
std::string_view name_of(Compare op);
std::string_view name_of(Reduce op);

// The module as text, for people (weft compile --emit ir).
std::string print(const Module& m);
// Internal error naming the instruction if types, order or counts do not hold.
core::Status verify(const Module& m);
// Drops instructions that no result and no check needs.
void drop_dead(Module& m);

}  // namespace weft_engine::ir
