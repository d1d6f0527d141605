// How much memory the code of an instruction needs beside its operands and result: the planner gives it, the code generator uses it.
// An upper bound for every target.
#pragma once

#include "ir/ir.h"

namespace weft_engine::compiler {

ir::Dim scratch_bytes(const ir::Instr& i);  // 0 for most

// Whether an instruction is worth running in parts, several at once: known sizes, and work for longer than it takes to wake a thread.
bool worth_threads(const ir::Instr& i);
// With memory of its own for each part. kConvFilterGrad: behind that, sums of its own for each but the first.
ir::Dim scratch_bytes(const ir::Instr& i, int threads);

// A product's sizes, and how it is computed when the rows of B run along k.
struct DotPlan {
  ir::Dim batch, m, n, k;
  enum class Way : uint8_t {
    kPlain,       // as it is
    kTransposeB,  // B is transposed into scratch
    kSwap,        // C^T = B^T A^T, whose parts are transposed
    kRows,        // sums along both rows: few rows of A
  } way = Way::kPlain;
  bool narrow = false;  // half and bfloat16: computed on copies as float
  // Parts of the scratch, in bytes: copies of A, B and C as float; the transposed A or B; the transposed C; a panel of B; rows of A.
  ir::Dim a, b, c, transposed, transposed_c, panel, rows;
};
inline constexpr int64_t kPackRows = 256, kPackColumns = 128;  // of a panel, at most
inline constexpr int64_t kPackABytes = 256 << 10;
DotPlan plan_dot(const ir::Instr& i);

// A convolution's image in scratch: one example with its padding and the holes of base_dilation. Spatial dimensions only.
struct ConvPlan {
  std::vector<ir::Dim> size;    // of the padded image
  bool padded = false;          // it differs from the operand
  bool narrow = false;          // half and bfloat16: computed on copies as float
  // Holes are not filled with zeros: output pixels of equal remainder by the holes see a part of the filter each, and no holes. The
  // image then has `before` pixels of padding before the input.
  bool phased = false;
  std::vector<int64_t> before;
  ir::Dim image, x, filter, y;  // parts of the scratch in bytes: the padded image; copies as float of the operands and the result
};
ConvPlan plan_conv(const ir::Instr& i);

// A convolution in Winograd's form: `images` whole images at a time, or `rows` rows of tiles of one.
struct WinogradPlan {
  int64_t high = 0, wide = 0;            // tiles of an image
  int64_t images = 1, rows = 0;          // of a block, at most
  int64_t x_height = 0, x_width = 0;     // of x with its padding: up to the last tile's last pixel
  bool copy_x = false, copy_y = false;   // into scratch, with padding; y: kConvFilterGrad's dy
  int64_t x_plane = 0, y_plane = 0;      // from one point of a block to the next, in elements
  int64_t x_image = 0, y_image = 0, x_points = 0, y_points = 0;  // parts of the scratch in bytes, in order
  int64_t bytes() const { return x_image + y_image + x_points + y_points; }
};
inline constexpr int64_t kWinogradPoints = 36, kWinogradTile = 4;
WinogradPlan plan_winograd(const ir::Instr& i);

}  // namespace weft_engine::compiler
