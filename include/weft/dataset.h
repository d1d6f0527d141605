// Dataset: a recipe for a stream of elements, walked with a range-for as often as you like.
//
//   auto train = data::Dataset::from_tensor_slices({images, labels}).shuffle().batch(32).prefetch();
//   for (int epoch = 0; epoch < 5; ++epoch)
//     for (data::Element& batch : train) step(batch[0], batch[1]);
//
// Copies are cheap and share the recipe. Threads work only while an Iterator lives; leaving the loop early stops them. What goes wrong
// on a thread is thrown where the element is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weft/data.h"

namespace weft::data {

using Element = std::vector<Tensor>;  // features, then labels

class WEFT_API Iterator {
 public:
  struct End {};
  Iterator(Iterator&&) noexcept;
  Iterator& operator=(Iterator&&) noexcept;
  ~Iterator();
  Element& operator*() const;
  Element* operator->() const { return &**this; }
  Iterator& operator++();
  bool operator==(End) const;

 private:
  friend class Dataset;
  struct Impl;
  explicit Iterator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class WEFT_API Dataset {
 public:
  static constexpr int64_t kInfinite = -1, kUnknown = -2;

  // Row i of each tensor is element i.
  static Dataset from_tensor_slices(std::vector<Tensor> tensors);
  static Dataset from_named_slices(const Arrays& tensors);  // in the order of names()
  // next(0), next(1), ... until it gives nothing; called in order, by one thread at a time, from the front again in every walk.
  static Dataset from_generator(std::function<std::optional<Element>(int64_t)> next, int64_t cardinality = kUnknown);
  // One string for each record of the files.
  static Dataset from_tfrecords(std::vector<std::string> files, const std::string& compression = "");
  // An image and its label (int32) for each file of list_image_folder(); read on a thread for each core.
  static Dataset from_image_folder(const std::string& folder, const ImageOptions& options);

  // Draws from a buffer of that many elements; 0: all of them. The order depends on the seed and, if `reshuffle`, on how often the
  // dataset has been walked.
  Dataset shuffle(int64_t buffer = 0, std::optional<uint64_t> seed = {}, bool reshuffle = true) const;
  Dataset batch(int64_t size, bool drop_remainder = false) const;
  // With several threads f must be safe to call at once; the order of elements is kept. 0: one thread for each core.
  Dataset map(std::function<Element(Element)> f, int threads = 1) const;
  Dataset filter(std::function<bool(const Element&)> keep) const;
  Dataset prefetch(int64_t elements = 2) const;       // makes up to that many ahead, on a thread of its own
  Dataset repeat(int64_t times = -1) const;           // -1: for ever
  Dataset take(int64_t n) const;                      // -1: all
  Dataset skip(int64_t n) const;                      // -1: all
  Dataset shard(int64_t count, int64_t index) const;  // elements index, index + count, ...

  int64_t cardinality() const;             // the number of elements, kInfinite or kUnknown
  std::vector<std::string> names() const;  // of an element's tensors, if they were given

  // Elements in turn: `for (Element& e : dataset)`.
  Iterator begin() const;
  Iterator::End end() const { return {}; }

  struct Node;  // for the library itself
  explicit Dataset(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

 private:
  std::shared_ptr<const Node> node_;
};

}  // namespace weft::data
