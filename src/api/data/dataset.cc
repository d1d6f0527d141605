// The recipes (Node) and the walks over them (Walk). A walk over slices of tensors passes on the numbers of rows until someone needs
// their values, so that slices -> shuffle -> batch is one gather.
#include "weft/dataset.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <random>

#include "api/data/prefetch.h"
#include "api/data/rows.h"

namespace weft::data {
namespace {

struct Item {
  int64_t row = -1;  // of the walk's columns; else the element
  Element element;
};

struct Walk {
  virtual ~Walk() = default;
  virtual bool next(Item& item) = 0;  // false at the end
  Element& value(Item& item) const {
    if (item.row >= 0) item.element = columns->row(item.row);
    item.row = -1;
    return item.element;
  }
  const Columns* columns = nullptr;  // what rows are of; null: items hold elements
};

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators), here also to mix numbers into seeds. The standard
// library's distributions would give other orders with other libraries.
struct Random {
  uint64_t state;
  uint64_t operator()() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t n) { return uint64_t((static_cast<unsigned __int128>((*this)()) * n) >> 64); }
};
uint64_t mix(uint64_t a, uint64_t b) { return Random{a ^ Random{b}()}(); }

}  // namespace

// What one walk over a whole recipe is told. Shuffles count walks when a walk begins, on the caller's thread: whatever threads then do
// ahead, or leave undone, the order stays that of the seed.
struct Run {
  std::map<const Dataset::Node*, uint64_t> epochs;
};

struct Dataset::Node {
  explicit Node(std::shared_ptr<const Node> from = nullptr) : from(std::move(from)) {}
  virtual ~Node() = default;
  // `pass` tells the repetitions inside one run apart.
  virtual std::unique_ptr<Walk> open(const Run& run, uint64_t pass) const = 0;
  virtual int64_t cardinality() const { return from->cardinality(); }
  virtual std::vector<std::string> names() const { return from->names(); }
  virtual void prepare(Run& run) const {
    if (from) from->prepare(run);
  }
  const std::shared_ptr<const Node> from;
};

namespace {

using Node = Dataset::Node;
using NodePtr = std::shared_ptr<const Node>;

[[noreturn]] void wrong(const std::string& what) { throw Error(Code::kInvalidArgument, what); }

// A walk over another.
struct Over : Walk {
  explicit Over(std::unique_ptr<Walk> from) : from(std::move(from)) { columns = this->from->columns; }
  std::unique_ptr<Walk> from;
};

// A walk that a lambda makes of another.
template <class F>
struct OverWith final : Over {
  OverWith(std::unique_ptr<Walk> from, F f) : Over(std::move(from)), f(std::move(f)) {}
  bool next(Item& item) override { return f(*this->from, item); }
  F f;
};
template <class F>
std::unique_ptr<Walk> over(std::unique_ptr<Walk> from, F f) {
  return std::make_unique<OverWith<F>>(std::move(from), std::move(f));
}

// ---- sources ----

struct Slices final : Node {
  Slices(std::vector<Tensor> tensors, std::vector<std::string> names) : columns(std::move(tensors)), given(std::move(names)) {}
  std::unique_ptr<Walk> open(const Run&, uint64_t) const override {
    struct W final : Walk {
      bool next(Item& item) override {
        if (at >= columns->rows()) return false;
        item = {at++, {}};
        return true;
      }
      int64_t at = 0;
    };
    auto w = std::make_unique<W>();
    w->columns = &columns;
    return w;
  }
  int64_t cardinality() const override { return columns.rows(); }
  std::vector<std::string> names() const override { return given; }
  const Columns columns;
  const std::vector<std::string> given;
};

struct Generator final : Node {
  using Next = std::function<std::optional<Element>(int64_t)>;
  Generator(Next next, int64_t n) : make(std::move(next)), n(n) {}
  std::unique_ptr<Walk> open(const Run&, uint64_t) const override {
    struct W final : Walk {
      bool next(Item& item) override {
        std::optional<Element> e;
        if (!over) e = make(at++);
        over = !e;
        if (e) item = {-1, std::move(*e)};
        return !over;
      }
      Next make;
      int64_t at = 0;
      bool over = false;
    };
    auto w = std::make_unique<W>();
    w->make = make;
    return w;
  }
  int64_t cardinality() const override { return n; }
  std::vector<std::string> names() const override { return {}; }
  const Next make;
  const int64_t n;
};

struct Records final : Node {
  Records(std::vector<std::string> files, std::string compression) : files(std::move(files)), compression(std::move(compression)) {}
  std::unique_ptr<Walk> open(const Run&, uint64_t) const override {
    struct W final : Walk {
      explicit W(const Records& n) : node(n) {}
      bool next(Item& item) override {
        std::string record;
        while (true) {
          if (!reader && file == node.files.size()) return false;
          if (!reader) reader.emplace(node.files[file++], node.compression);
          if (reader->next(record)) break;
          reader.reset();
        }
        item = {-1, {Tensor(record)}};
        return true;
      }
      const Records& node;
      size_t file = 0;
      std::optional<TFRecordReader> reader;
    };
    return std::make_unique<W>(*this);
  }
  int64_t cardinality() const override { return Dataset::kUnknown; }
  std::vector<std::string> names() const override { return {}; }
  const std::vector<std::string> files;
  const std::string compression;
};

// ---- steps ----

struct Shuffle final : Node {
  Shuffle(NodePtr from, int64_t buffer, uint64_t seed, bool reshuffle) : Node(std::move(from)), buffer(buffer), seed(seed), reshuffle(reshuffle) {}
  void prepare(Run& run) const override {
    run.epochs[this] = epochs.fetch_add(1);
    from->prepare(run);
  }
  std::unique_ptr<Walk> open(const Run& run, uint64_t pass) const override {
    struct W final : Over {
      W(std::unique_ptr<Walk> from, size_t buffer, uint64_t seed) : Over(std::move(from)), buffer(buffer), random{seed} {}
      bool next(Item& item) override {
        for (Item more; !over && (buffer == 0 || items.size() < buffer);) {
          if (from->next(more)) items.push_back(std::move(more));
          else over = true;
        }
        if (items.empty()) return false;
        std::swap(items[random.below(items.size())], items.back());
        item = std::move(items.back());
        items.pop_back();
        return true;
      }
      const size_t buffer;
      Random random;
      std::vector<Item> items;
      bool over = false;
    };
    const uint64_t s = reshuffle ? mix(mix(seed, run.epochs.at(this)), pass) : seed;
    return std::make_unique<W>(from->open(run, pass), size_t(buffer), s);
  }
  const int64_t buffer;
  const uint64_t seed;
  const bool reshuffle;
  mutable std::atomic<uint64_t> epochs{0};
};

struct Batch final : Node {
  Batch(NodePtr from, int64_t size, bool drop) : Node(std::move(from)), size(size), drop(drop) {}
  std::unique_ptr<Walk> open(const Run& run, uint64_t pass) const override {
    struct W final : Walk {
      W(std::unique_ptr<Walk> from, size_t size, bool drop) : from(std::move(from)), size(size), drop(drop) {}
      bool next(Item& out) override {
        std::vector<int64_t> rows;
        std::vector<Element> elements;
        const size_t likely = std::min<size_t>(size, 4096);
        if (from->columns) rows.reserve(likely);
        else elements.reserve(likely);
        for (Item item; rows.size() + elements.size() < size && !over;) {
          if (!from->next(item)) over = true;
          else if (from->columns) rows.push_back(item.row);
          else elements.push_back(std::move(item.element));
        }
        const size_t n = rows.size() + elements.size();
        if (n == 0 || (drop && n < size)) return false;
        out = {-1, from->columns ? from->columns->gather(rows) : stack(elements)};
        return true;
      }
      const std::unique_ptr<Walk> from;
      const size_t size;
      const bool drop;
      bool over = false;
    };
    return std::make_unique<W>(from->open(run, pass), size_t(size), drop);
  }
  int64_t cardinality() const override {
    const int64_t n = from->cardinality();
    return n < 0 ? n : drop ? n / size : n / size + (n % size != 0);
  }
  const int64_t size;
  const bool drop;
};

// Work on threads: map with several, prefetch with one and no function.
struct OnThreads final : Node {
  using F = std::function<Element(Element)>;
  OnThreads(NodePtr from, F f, int threads, int64_t capacity) : Node(std::move(from)), f(std::move(f)), threads(threads), capacity(capacity) {}
  std::unique_ptr<Walk> open(const Run& run, uint64_t pass) const override {
    struct W final : Over {
      W(std::unique_ptr<Walk> source, const F& f, int threads, size_t capacity)
      try
          : Over(std::move(source)),
            prefetch([walk = from.get()](Item& item) { return walk->next(item); },
                     f ? Prefetcher<Item>::Work([walk = from.get(), &f](Item& item) { item.element = f(std::move(walk->value(item))); }) : nullptr,
                     threads, capacity) {
        if (f) columns = nullptr;
      } catch (const std::system_error& e) {
        throw Error(Code::kResourceExhausted, std::string("no thread for a dataset: ") + e.what());
      }
      bool next(Item& item) override { return prefetch.next(item); }
      Prefetcher<Item> prefetch;  // its threads end before the walk that they pull from
    };
    return std::make_unique<W>(from->open(run, pass), f, threads, size_t(capacity));
  }
  std::vector<std::string> names() const override { return f ? std::vector<std::string>() : from->names(); }
  const F f;
  const int threads;
  const int64_t capacity;
};

struct Map final : Node {
  Map(NodePtr from, OnThreads::F f) : Node(std::move(from)), f(std::move(f)) {}
  std::unique_ptr<Walk> open(const Run& run, uint64_t pass) const override {
    auto w = over(from->open(run, pass), [this](Walk& from, Item& item) {
      if (!from.next(item)) return false;
      item.element = f(std::move(from.value(item)));
      return true;
    });
    w->columns = nullptr;
    return w;
  }
  std::vector<std::string> names() const override { return {}; }
  const OnThreads::F f;
};

struct Filter final : Node {
  using F = std::function<bool(const Element&)>;
  Filter(NodePtr from, F f) : Node(std::move(from)), f(std::move(f)) {}
  std::unique_ptr<Walk> open(const Run& run, uint64_t pass) const override {
    return over(from->open(run, pass), [this](Walk& from, Item& item) {
      while (from.next(item)) {
        if (item.row < 0 ? f(item.element) : f(from.columns->row(item.row))) return true;
      }
      return false;
    });
  }
  int64_t cardinality() const override {
    const int64_t n = from->cardinality();
    return n == 0 || n == Dataset::kInfinite ? n : Dataset::kUnknown;
  }
  const F f;
};

struct Repeat final : Node {
  Repeat(NodePtr from, int64_t times) : Node(std::move(from)), times(times) {}
  std::unique_ptr<Walk> open(const Run& run, uint64_t pass) const override {
    struct W final : Over {
      W(const Repeat& node, const Run& run, uint64_t pass) : Over(node.from->open(run, pass)), node(node), run(run), pass(pass) {}
      bool next(Item& item) override {
        while (node.times < 0 || done < node.times) {
          if (from->next(item)) return any = true;
          if (!any) return false;  // nothing to repeat, not even for ever
          any = false;
          if (++done == node.times) return false;
          from = node.from->open(run, mix(pass, uint64_t(done)));
        }
        return false;
      }
      const Repeat& node;
      const Run& run;
      const uint64_t pass;
      int64_t done = 0;
      bool any = false;
    };
    return std::make_unique<W>(*this, run, pass);
  }
  int64_t cardinality() const override {
    const int64_t n = from->cardinality();
    if (n == 0 || times == 0) return 0;
    if (times < 0 || n == Dataset::kInfinite) return Dataset::kInfinite;
    return n < 0 ? n : n > std::numeric_limits<int64_t>::max() / times ? std::numeric_limits<int64_t>::max() : n * times;
  }
  const int64_t times;
};

// Of each `every` elements the one at `offset`, from `begin` up to `end`; -1: no end.
struct Part final : Node {
  Part(NodePtr from, int64_t begin, int64_t end, int64_t every = 1) : Node(std::move(from)), begin(begin), end(end), every(every) {}
  std::unique_ptr<Walk> open(const Run& run, uint64_t pass) const override {
    return over(from->open(run, pass), [this, at = int64_t(0), wanted = begin](Walk& from, Item& item) mutable {
      if (end >= 0 && wanted >= end) return false;
      while (from.next(item)) {
        if (at++ < wanted) continue;
        wanted += every;
        return true;
      }
      return false;
    });
  }
  int64_t cardinality() const override {
    const int64_t n = from->cardinality();
    if (n == Dataset::kInfinite && end >= 0) return std::max<int64_t>(0, end - begin);
    if (n < 0) return n;
    const int64_t stop = end < 0 ? n : std::min(n, end);
    return stop <= begin ? 0 : (stop - begin - 1) / every + 1;
  }
  const int64_t begin, end, every;
};

}  // namespace

Dataset Dataset::from_tensor_slices(std::vector<Tensor> tensors) {
  return Dataset(std::make_shared<Slices>(std::move(tensors), std::vector<std::string>()));
}

Dataset Dataset::from_named_slices(const Arrays& tensors) {
  std::vector<Tensor> columns;
  std::vector<std::string> names;
  for (const auto& [name, t] : tensors) columns.push_back(t), names.push_back(name);
  return Dataset(std::make_shared<Slices>(std::move(columns), std::move(names)));
}

Dataset Dataset::from_generator(std::function<std::optional<Element>(int64_t)> next, int64_t cardinality) {
  if (!next) wrong("from_generator needs a function");
  return Dataset(std::make_shared<Generator>(std::move(next), cardinality));
}

Dataset Dataset::from_tfrecords(std::vector<std::string> files, const std::string& compression) {
  return Dataset(std::make_shared<Records>(std::move(files), compression));
}

Dataset Dataset::from_image_folder(const std::string& folder, const ImageOptions& options) {
  ImageFolder list = list_image_folder(folder);
  const int64_t n = int64_t(list.files.size());
  const Tensor files = Tensor::of_strings({n}, list.files), labels = Tensor::of<int32_t>({n}, std::span<const int32_t>(list.labels));
  const auto read = [options](Element e) { return Element{read_image(e[0].strings()[0], options), e[1]}; };
  return from_tensor_slices({files, labels}).map(read, 0);
}

Dataset Dataset::shuffle(int64_t buffer, std::optional<uint64_t> seed, bool reshuffle) const {
  if (buffer < 0) wrong("shuffle needs a buffer of at least one element, or 0 for all, not " + std::to_string(buffer));
  if (!seed) seed = (uint64_t(std::random_device()()) << 32) ^ std::random_device()();
  return Dataset(std::make_shared<Shuffle>(node_, buffer, *seed, reshuffle));
}

Dataset Dataset::batch(int64_t size, bool drop_remainder) const {
  if (size < 1) wrong("a batch has at least one element, not " + std::to_string(size));
  return Dataset(std::make_shared<Batch>(node_, size, drop_remainder));
}

Dataset Dataset::map(std::function<Element(Element)> f, int threads) const {
  if (!f) wrong("map needs a function");
  if (threads < 0) wrong("map needs at least one thread, or 0 for as many as there are cores");
  if (threads == 0) threads = int(std::max(1u, std::thread::hardware_concurrency()));
  if (threads == 1) return Dataset(std::make_shared<Map>(node_, std::move(f)));
  return Dataset(std::make_shared<OnThreads>(node_, std::move(f), threads, 2 * int64_t(threads)));
}

Dataset Dataset::filter(std::function<bool(const Element&)> keep) const {
  if (!keep) wrong("filter needs a function");
  return Dataset(std::make_shared<Filter>(node_, std::move(keep)));
}

Dataset Dataset::prefetch(int64_t elements) const {
  if (elements < 1 || elements > (1 << 20)) wrong("prefetch takes 1 to 1048576 elements, not " + std::to_string(elements));
  return Dataset(std::make_shared<OnThreads>(node_, nullptr, 1, elements));
}

Dataset Dataset::repeat(int64_t times) const { return Dataset(std::make_shared<Repeat>(node_, times)); }
Dataset Dataset::take(int64_t n) const { return Dataset(std::make_shared<Part>(node_, 0, n)); }
Dataset Dataset::skip(int64_t n) const { return n < 0 ? take(0) : Dataset(std::make_shared<Part>(node_, n, -1)); }
Dataset Dataset::shard(int64_t count, int64_t index) const {
  if (count < 1 || index < 0 || index >= count) wrong("shard " + std::to_string(index) + " of " + std::to_string(count) + " does not exist");
  return Dataset(std::make_shared<Part>(node_, index, -1, count));
}

int64_t Dataset::cardinality() const { return node_->cardinality(); }
std::vector<std::string> Dataset::names() const { return node_->names(); }

struct Iterator::Impl {
  std::shared_ptr<const Dataset::Node> node;  // the recipe outlives the walk
  Run run;
  std::unique_ptr<Walk> walk;
  Item item;
  bool more = true;

  void advance() {
    more = false;  // also if this throws
    Item next;
    if (!walk->next(next)) {
      walk.reset();
      return;
    }
    walk->value(next);
    item = std::move(next);
    more = true;
  }
};

Iterator::Iterator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Iterator::Iterator(Iterator&&) noexcept = default;
Iterator& Iterator::operator=(Iterator&&) noexcept = default;
Iterator::~Iterator() = default;
Element& Iterator::operator*() const { return impl_->item.element; }
Iterator& Iterator::operator++() {
  if (impl_->more) impl_->advance();
  return *this;
}
bool Iterator::operator==(End) const { return !impl_->more; }

Iterator Dataset::begin() const {
  auto impl = std::make_unique<Iterator::Impl>();
  impl->node = node_;
  node_->prepare(impl->run);
  impl->walk = node_->open(impl->run, 0);
  impl->advance();
  return Iterator(std::move(impl));
}

}  // namespace weft::data
