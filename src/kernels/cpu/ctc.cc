#include "kernels/cpu/ctc.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace weft_engine::kernels {

namespace {

template <class T>
constexpr T kLogZero = -std::numeric_limits<T>::infinity();

// log(exp(a) + exp(b)). TensorFlow takes the correction in float for double too, and results must agree.
template <class T>
T log_add(T a, T b) {
  if (a == kLogZero<T>) return b;
  if (b == kLogZero<T>) return a;
  return a > b ? a + ::log1pf(::expf(float(b - a))) : b + ::log1pf(::expf(float(a - b)));
}

// [time, n] numbers.
template <class T>
class Grid {
 public:
  Grid(int64_t rows, int64_t columns, T fill) : columns_(columns), cells_(size_t(rows * columns), fill) {}
  T& operator()(int64_t row, int64_t column) { return cells_[size_t(row * columns_ + column)]; }
  T operator()(int64_t row, int64_t column) const { return cells_[size_t(row * columns_ + column)]; }

 private:
  int64_t columns_;
  std::vector<T> cells_;
};

template <class T>
Grid<T> softmax_rows(const CtcSequence<T>& s) {
  Grid<T> y(s.time, s.classes, T(0));
  for (int64_t t = 0; t < s.time; ++t) {
    const T* x = s.logits + t * s.stride;
    const T top = *std::max_element(x, x + s.classes);
    T sum = 0;
    for (int64_t k = 0; k < s.classes; ++k) sum += y(t, k) = std::exp(x[k] - top);
    for (int64_t k = 0; k < s.classes; ++k) y(t, k) /= sum;
  }
  return y;
}

// What the recurrences know about the path: U positions over `time` steps.
template <class T>
struct Path {
  std::span<const int32_t> labels;
  int64_t time;
  int32_t blank;
  bool merge;
  int64_t size() const { return int64_t(labels.size()); }
  // Positions outside of these cannot be on a complete path at step t.
  int64_t begin(int64_t t) const { return std::max<int64_t>(0, size() - 2 * (time - t)); }
  int64_t end(int64_t t) const { return std::min<int64_t>(size(), 2 * (t + 1)); }
  bool may_stay(int64_t u) const { return merge || labels[size_t(u)] == blank; }
  // From u to u + 2, over a blank.
  bool may_skip(int64_t from, int64_t to) const { return labels[size_t(to)] != blank && !(merge && labels[size_t(from)] == labels[size_t(to)]); }
};

// Graves, equation 7.9.
template <class T>
Grid<T> forward(const Path<T>& p, const Grid<T>& y) {
  Grid<T> a(p.time, p.size(), kLogZero<T>);
  a(0, 0) = std::log(y(0, p.blank));
  if (p.size() > 1) a(0, 1) = std::log(y(0, p.labels[1]));
  for (int64_t t = 1; t < p.time; ++t) {
    for (int64_t u = p.begin(t); u < p.end(t); ++u) {
      T sum = p.may_stay(u) ? a(t - 1, u) : kLogZero<T>;
      if (u > 0) sum = log_add(sum, a(t - 1, u - 1));
      if (u > 1 && p.may_skip(u - 2, u)) sum = log_add(sum, a(t - 1, u - 2));
      a(t, u) = std::log(y(t, p.labels[size_t(u)])) + sum;
    }
  }
  return a;
}

// Graves, equation 7.15.
template <class T>
Grid<T> backward(const Path<T>& p, const Grid<T>& y) {
  Grid<T> b(p.time, p.size(), kLogZero<T>);
  const auto step = [&](int64_t t, int64_t u) { return b(t + 1, u) + std::log(y(t + 1, p.labels[size_t(u)])); };
  for (int64_t u = std::max<int64_t>(0, p.size() - 2); u < p.size(); ++u) b(p.time - 1, u) = 0;
  for (int64_t t = p.time - 2; t >= 0; --t) {
    for (int64_t u = p.begin(t); u < p.end(t); ++u) {
      if (p.may_stay(u)) b(t, u) = log_add(b(t, u), step(t, u));
      if (u + 1 < p.size()) b(t, u) = log_add(b(t, u), step(t, u + 1));
      if (u + 2 < p.size() && p.labels[size_t(u)] != p.blank && p.may_skip(u, u + 2)) b(t, u) = log_add(b(t, u), step(t, u + 2));
    }
  }
  return b;
}

}  // namespace

template <class T>
T ctc_loss(const CtcSequence<T>& s, std::span<const int32_t> path, bool merge_repeated, T* gradient) {
  const Path<T> p{path, s.time, int32_t(s.classes - 1), merge_repeated};
  const Grid<T> y = softmax_rows(s), a = forward(p, y), b = backward(p, y);
  T log_p = kLogZero<T>;
  for (int64_t u = 0; u < p.size(); ++u) log_p = log_add(log_p, a(0, u) + b(0, u));
  std::vector<T> sums(static_cast<size_t>(s.classes));
  for (int64_t t = 0; t < s.time; ++t) {
    T* g = gradient + t * s.stride;
    for (int64_t k = 0; k < s.classes; ++k) g[k] = y(t, k);
    if (log_p == kLogZero<T>) continue;  // no path has a probability: nothing pulls towards the labels
    std::fill(sums.begin(), sums.end(), kLogZero<T>);
    for (int64_t u = 0; u < p.size(); ++u) {
      T& sum = sums[size_t(path[size_t(u)])];
      sum = log_add(sum, a(t, u) + b(t, u));
    }
    for (int64_t k = 0; k < s.classes; ++k) g[k] -= ::expf(float(sums[size_t(k)] - log_p));
  }
  return -log_p;
}

namespace {

template <class T>
struct Probability {
  T total = kLogZero<T>, blank = kLogZero<T>, label = kLogZero<T>;
};

template <class T>
struct Entry {
  Entry* parent = nullptr;
  int64_t label = -1;
  std::vector<Entry*> children;  // by label; empty until the first
  Probability<T> before, now;
  bool active() const { return now.total != kLogZero<T>; }
};

// The best n entries pushed. Which of several equal ones stay, and in which order they come out, follows
// from how the heap is kept; it is kept as TensorFlow's TopN is, since decoders meet ties all the time.
template <class T>
class Beam {
 public:
  using Item = Entry<T>*;
  explicit Beam(size_t limit) : limit_(limit) {}
  size_t size() const { return items_.size(); }
  const std::vector<Item>& items() const { return items_; }

  void push(Item e) {
    if (state_ == State::kHeap) {
      if (!better(e, items_.front())) return;
      std::pop_heap(items_.begin(), items_.end(), better);
      items_.back() = e;
      std::push_heap(items_.begin(), items_.end(), better);
      return;
    }
    items_.push_back(e);
    if (items_.size() == limit_ + 1) {
      std::make_heap(items_.begin(), items_.end(), better);
      std::pop_heap(items_.begin(), items_.end(), better);
      items_.pop_back();
      state_ = State::kHeap;
    } else if (state_ == State::kWorstFirst && !better(items_.back(), items_.front())) {
      std::swap(items_.front(), items_.back());
    }
  }

  Item worst() {
    if (state_ == State::kAny) {
      size_t at = 0;
      for (size_t i = 1; i < items_.size(); ++i) {
        if (better(items_[at], items_[i])) at = i;
      }
      std::swap(items_[0], items_[at]);
      state_ = State::kWorstFirst;
    }
    return items_.front();
  }

  // All entries, best first; the beam is empty then.
  std::vector<Item> take() {
    std::vector<Item> out;
    out.swap(items_);
    if (state_ == State::kHeap) std::sort_heap(out.begin(), out.end(), better);
    else std::sort(out.begin(), out.end(), better);
    state_ = State::kAny;
    return out;
  }

 private:
  enum class State { kAny, kWorstFirst, kHeap };
  // A NaN counts as the worst: sorting needs an order.
  static T key(Item e) { return std::isnan(e->now.total) ? kLogZero<T> : e->now.total; }
  static bool better(Item a, Item b) { return key(a) > key(b); }
  std::vector<Item> items_;
  size_t limit_;
  State state_ = State::kAny;
};

template <class T>
class BeamSearch {
 public:
  BeamSearch(int64_t classes, int64_t width) : classes_(classes), width_(size_t(width)), leaves_(width_) {
    Entry<T>& root = entries_.emplace_back();
    root.now.total = root.now.blank = 0;
    leaves_.push(&root);
  }

  void step(const T* logits) {
    const T top = *std::max_element(logits, logits + classes_);
    T sum = 0;
    for (int64_t k = 0; k < classes_; ++k) sum += std::exp(logits[k] - top);
    const T offset = top + std::log(sum);
    const auto branches = leaves_.take();
    for (Entry<T>* e : branches) e->before = e->now;
    for (Entry<T>* e : branches) {
      if (e->parent) {
        if (e->parent->active()) {
          const Probability<T>& p = e->parent->before;
          e->now.label = log_add(e->now.label, e->label == e->parent->label ? p.blank : p.total);
        }
        e->now.label += logits[e->label] - offset;
      }
      e->now.blank = e->before.total + logits[classes_ - 1] - offset;
      e->now.total = log_add(e->now.blank, e->now.label);
      leaves_.push(e);
    }
    for (Entry<T>* e : branches) {
      if (candidate(e->before.total)) grow(e, logits, offset);
    }
  }

  std::vector<BeamPath> best(int64_t top, bool merge_repeated) const {
    Beam<T> few(static_cast<size_t>(top));
    for (Entry<T>* e : leaves_.items()) few.push(e);
    std::vector<BeamPath> out;
    for (const Entry<T>* e : few.take()) {
      BeamPath& path = out.emplace_back(BeamPath{{}, double(e->now.total)});
      int64_t last = -1;
      for (; e->parent; e = e->parent) {
        if (!merge_repeated || e->label != last) path.labels.push_back(e->label);
        last = e->label;
      }
      std::reverse(path.labels.begin(), path.labels.end());
    }
    return out;
  }

 private:
  bool candidate(T total) { return total > kLogZero<T> && (leaves_.size() < width_ || total > leaves_.worst()->now.total); }

  void grow(Entry<T>* e, const T* logits, T offset) {
    for (int64_t label = 0; label + 1 < classes_; ++label) {
      Entry<T>* child = e->children.empty() ? nullptr : e->children[size_t(label)];
      if (child && child->active()) continue;
      const T p = logits[label] - offset + (label == e->label ? e->before.blank : e->before.total);
      if (!candidate(p)) {
        if (child) child->before = {};
        continue;
      }
      if (!child) {
        e->children.resize(size_t(classes_ - 1));
        child = e->children[size_t(label)] = &entries_.emplace_back();
        child->parent = e;
        child->label = label;
      }
      child->now = {p, kLogZero<T>, p};
      if (leaves_.size() == width_) leaves_.worst()->now = {};  // it falls out now
      leaves_.push(child);
    }
  }

  int64_t classes_;
  size_t width_;
  std::deque<Entry<T>> entries_;
  Beam<T> leaves_;
};

}  // namespace

template <class T>
std::vector<BeamPath> ctc_beam_search(const CtcSequence<T>& s, int64_t beam_width, int64_t top, bool merge_repeated) {
  BeamSearch<T> search(s.classes, beam_width);
  for (int64_t t = 0; t < s.time; ++t) search.step(s.logits + t * s.stride);
  return search.best(top, merge_repeated);
}

template float ctc_loss(const CtcSequence<float>&, std::span<const int32_t>, bool, float*);
template double ctc_loss(const CtcSequence<double>&, std::span<const int32_t>, bool, double*);
template std::vector<BeamPath> ctc_beam_search(const CtcSequence<float>&, int64_t, int64_t, bool);
template std::vector<BeamPath> ctc_beam_search(const CtcSequence<double>&, int64_t, int64_t, bool);

}  // namespace weft_engine::kernels
