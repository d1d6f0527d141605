// Tensors that were saved in parts, or of which a part is wanted.
#include <algorithm>

#include "wire/bundle_entry.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

// Internal if two slices share an element: which of them holds its value would be a guess. Compared are
// only slices that meet along one dimension, the one with the most different starts.
Status check_overlaps(const std::vector<TensorSlice>& slices, const std::vector<TensorSlice>& boxes) {
  constexpr int64_t kMostComparisons = 1 << 26;  // far beyond any real partitioning; seconds for one made to be slow
  const size_t rank = boxes.empty() ? 0 : boxes[0].extents.size();
  std::vector<size_t> order(boxes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  size_t best = 0, most = 0;
  for (size_t d = 0; d < rank; ++d) {
    std::vector<int64_t> starts;
    for (const TensorSlice& box : boxes) starts.push_back(box.extents[d].start);
    std::sort(starts.begin(), starts.end());
    const size_t different = size_t(std::unique(starts.begin(), starts.end()) - starts.begin());
    if (different > most) {
      most = different;
      best = d;
    }
  }
  auto extent = [&](size_t i) { return rank ? boxes[order[i]].extents[best] : TensorSlice::Extent{0, 1}; };
  if (rank)
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return boxes[a].extents[best].start < boxes[b].extents[best].start; });
  int64_t comparisons = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = i + 1; j < order.size() && extent(j).start < extent(i).end(); ++j) {
      if (intersect(boxes[order[i]], boxes[order[j]])) {
        const size_t first = std::min(order[i], order[j]), second = std::max(order[i], order[j]);
        return internal_error("Overlapping slices: existing slice = ", slices[first], ", new slice = ", slices[second]);
      }
      if (++comparisons > kMostComparisons) return resource_exhausted("a partitioned tensor has too many slices: ", slices.size());
    }
  }
  return {};
}

}  // namespace

Result<Tensor> BundleReader::assemble(std::string_view key, const BundleEntry& e, const TensorSlice& wanted, ThreadPool* pool) const {
  WEFT_ASSIGN(Shape result_shape, wanted.shape_of(e.shape));
  const TensorSlice target = wanted.explicit_in(e.shape);
  std::vector<TensorSlice> slices = e.slices;
  if (slices.empty()) slices.push_back(TensorSlice::whole(e.shape.rank()));  // saved in one piece
  std::vector<TensorSlice> boxes;
  for (const TensorSlice& slice : slices) {
    WEFT_RETURN_IF_ERROR(slice.shape_of(e.shape).status());
    boxes.push_back(slice.explicit_in(e.shape));
  }
  WEFT_RETURN_IF_ERROR(check_overlaps(slices, boxes));

  struct Piece {
    std::string key;
    BundleEntry entry;
    size_t box;
    TensorSlice common;
  };
  std::vector<Piece> pieces;
  int64_t covered = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    auto common = intersect(boxes[i], target);
    if (!common) continue;
    int64_t n = 1;
    for (const auto& extent : common->extents) n *= extent.length;
    covered += n;
    pieces.push_back({{}, {}, i, std::move(*common)});
  }
  if (covered != result_shape.num_elements())
    return invalid_argument("Does not have sufficient slices for partitioned tensor ", key, " to restore in slice_spec: ", wanted);
  for (Piece& piece : pieces) {
    if (slices[piece.box].full()) {
      piece.key = key;
      piece.entry = e;
    } else {
      piece.key = slice_key(key, slices[piece.box]);
      WEFT_ASSIGN(piece.entry, entry(piece.key));
      WEFT_ASSIGN(Shape shape, slices[piece.box].shape_of(e.shape));
      if (piece.entry.dtype != e.dtype || piece.entry.shape != shape || !piece.entry.slices.empty())
        return data_loss("Slice ", slices[piece.box], " of tensor ", key, " is stored as ", piece.entry.dtype, " of shape ", piece.entry.shape,
                         " where ", e.dtype, " of shape ", shape, " is expected");
    }
  }
  if (pieces.size() == 1 && boxes[pieces[0].box] == target) {
    Tensor whole;
    Read read{pieces[0].key, &pieces[0].entry, &whole};
    WEFT_RETURN_IF_ERROR(read_all({&read, 1}, pool));
    return whole;
  }
  Tensor result;
  if (pieces.empty()) {
    WEFT_ASSIGN(result, Tensor::allocate(e.dtype, result_shape));
  }
  // One piece at a time, so that memory holds the result and one piece. The first is read before memory
  // for the result is asked for: what the index claims has then been held against one file at least.
  for (Piece& piece : pieces) {
    Tensor part;
    Read read{piece.key, &piece.entry, &part};
    WEFT_RETURN_IF_ERROR(read_all({&read, 1}, pool));
    if (!result.valid()) {
      WEFT_ASSIGN(result, Tensor::allocate(e.dtype, result_shape));
    }
    copy_box(piece.common, part, boxes[piece.box], result, target);
  }
  return result;
}

Status verify_bundle(std::string_view prefix) {
  WEFT_ASSIGN(std::unique_ptr<BundleReader> reader, BundleReader::open(prefix));
  for (size_t i = 0; i < reader->size(); ++i) {
    const std::string_view key = reader->key(i);
    WEFT_ASSIGN(const BundleEntry entry, reader->entry(key));
    if (!entry.slices.empty() || entry.dtype == DType::kVariant) continue;  // the parts have keys of their own
    const Status read = reader->lookup(key).status();
    // A place behind the end of its file, or a missing one, is damage too.
    if (read.code() == Code::kOutOfRange || read.code() == Code::kNotFound) return data_loss(prefix, ": tensor ", key, ": ", read.message());
    WEFT_RETURN_IF_ERROR(read);
  }
  return {};
}

}  // namespace weft_engine::wire
