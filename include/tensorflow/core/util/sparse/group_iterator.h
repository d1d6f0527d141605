// SPDX-License-Identifier: Apache-2.0
//
// Runs of entries of a sorted SparseTensor whose indices agree in some dimensions. Included by sparse_tensor.h.
#ifndef TENSORFLOW_CORE_UTIL_SPARSE_GROUP_ITERATOR_H_
#define TENSORFLOW_CORE_UTIL_SPARSE_GROUP_ITERATOR_H_

#include <array>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/tensor.h"

namespace tensorflow {
namespace sparse {

class GroupIterable;

class Group {
 public:
  Group(GroupIterable* all, int64 begin, int64 end) : all_(all), begin_(begin), end_(end) {}
  // What the entries have in common: the index in each dimension of the group.
  std::vector<int64> group() const;
  int64 group_at(size_t d) const;  // in dimension d
  TTypes<int64>::UnalignedConstMatrix indices() const;
  template <class T>
  typename TTypes<T>::UnalignedVec values() const;

 private:
  GroupIterable* all_;
  int64 begin_, end_;
};

class GroupIterable {
 public:
  using VarDimArray = gtl::ArraySlice<int64>;
  GroupIterable(Tensor ix, Tensor vals, int dims, VarDimArray group_dims)
      : ix_(std::move(ix)), vals_(std::move(vals)), dims_(dims), group_dims_(group_dims.begin(), group_dims.end()) {}

  class IteratorStep {
   public:
    IteratorStep(GroupIterable* all, int64 at) : all_(all), at_(at), end_(all->EndOf(at)) {}
    bool operator==(const IteratorStep& o) const { return all_ == o.all_ && at_ == o.at_; }
    bool operator!=(const IteratorStep& o) const { return !(*this == o); }
    IteratorStep& operator++() { return *this = IteratorStep(all_, end_); }
    IteratorStep operator++(int) { return std::exchange(*this, IteratorStep(all_, end_)); }
    Group operator*() const { return Group(all_, at_, end_); }
    int64 loc() const { return at_; }

   private:
    GroupIterable* all_;
    int64 at_, end_;
  };
  IteratorStep begin() { return IteratorStep(this, 0); }
  IteratorStep end() { return IteratorStep(this, ix_.dim_size(0)); }
  IteratorStep at(int64 loc) {
    CHECK(loc >= 0 && loc <= ix_.dim_size(0)) << "loc provided must lie between 0 and " << ix_.dim_size(0);
    return IteratorStep(this, loc);
  }

 private:
  friend class Group;
  int64 EndOf(int64 begin) const {
    const auto ix = ix_.matrix<int64>();
    for (int64 end = begin; end < ix_.dim_size(0); ++end) {
      for (const int64 d : group_dims_) {
        if (ix(end, d) != ix(begin, d)) return end;
      }
    }
    return ix_.dim_size(0);
  }
  const Tensor ix_;
  Tensor vals_;
  const int dims_;
  const std::vector<int64> group_dims_;
};

inline std::vector<int64> Group::group() const {
  std::vector<int64> out;
  for (const int64 d : all_->group_dims_) out.push_back(group_at(static_cast<size_t>(d)));
  return out;
}
inline int64 Group::group_at(size_t d) const { return all_->ix_.matrix<int64>()(begin_, static_cast<int64>(d)); }
inline TTypes<int64>::UnalignedConstMatrix Group::indices() const {
  return MakeView<TTypes<int64>::UnalignedConstMatrix>(static_cast<const int64*>(all_->ix_.data()) + begin_ * all_->dims_,
                                                       std::array<ptrdiff_t, 2>{static_cast<ptrdiff_t>(end_ - begin_), all_->dims_});
}
template <class T>
typename TTypes<T>::UnalignedVec Group::values() const {
  return MakeView<typename TTypes<T>::UnalignedVec>(&all_->vals_.vec<T>()(begin_), std::array<ptrdiff_t, 1>{static_cast<ptrdiff_t>(end_ - begin_)});
}

}  // namespace sparse
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_SPARSE_GROUP_ITERATOR_H_
