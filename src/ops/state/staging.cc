// Staging areas: Stage keeps tuples of tensors in order, MapStage by key. Both may be bounded in count and
// in bytes; Stage blocks while the area is full, Unstage until an element is there.
#include <deque>
#include <map>
#include <optional>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Tuple = std::vector<Tensor>;  // an element that is not valid() was not put yet, or is taken

int64_t bytes_of(const Tuple& tuple) {
  int64_t bytes = 0;
  for (const Tensor& t : tuple) bytes += t.valid() ? int64_t(t.byte_size()) : 0;
  return bytes;
}

Waiters::Cancel stop_with(const KernelContext& c) { return {c.env().cancellation, "Staging operation was cancelled", nullptr}; }

struct Limits {
  explicit Limits(const KernelContext& c) : capacity(c.attr<int64_t>("capacity")), memory(c.attr<int64_t>("memory_limit")) {}
  Status check(int64_t bytes) const {
    if (memory > 0 && bytes > memory)
      return resource_exhausted("Attempted to insert tensors with combined size of '", bytes, "' bytes into Staging Area with a memory limit of '",
                                memory, "'.");
    return {};
  }
  bool too_many(size_t size) const { return capacity > 0 && int64_t(size) >= capacity; }
  bool too_big(int64_t bytes) const { return memory > 0 && bytes > memory; }
  int64_t capacity, memory;  // zero: none
};

// The outputs from `first` on.
Status emit(KernelContext& c, const Tuple& tuple, int first) {
  const size_t wanted = size_t(c.num_outputs() - first);
  for (size_t i = 0; i < std::min(wanted, tuple.size()); ++i) {
    const DType expected = c.output_type(first + int(i));
    if (tuple[i].dtype() != expected) return invalid_argument("Type mismatch: actual ", tuple[i].dtype(), " vs. expect ", expected);
    c.set_output(first + int(i), tuple[i]);
  }
  if (wanted != tuple.size()) return invalid_argument("Mismatch stage/unstage: ", tuple.size(), " vs. ", wanted);
  return {};
}

Tuple values_of(const KernelContext& c) {
  Tuple tuple;
  for (const Tensor* t : c.input_list("values")) tuple.push_back(*t);
  return tuple;
}

class StagingArea final : public Resource, public std::enable_shared_from_this<StagingArea> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_16BufferE";
  explicit StagingArea(const Limits& limits) : limits_(limits) {}
  static Result<std::shared_ptr<StagingArea>> of(const KernelContext& c) {
    return shared_resource<StagingArea>(c, [&]() -> Result<std::shared_ptr<StagingArea>> { return std::make_shared<StagingArea>(Limits(c)); });
  }
  std::string type_name() const override { return "StagingArea"; }

  void put(const KernelContext& c, Tuple tuple, Kernel::Done done) {
    const int64_t bytes = bytes_of(tuple);
    if (Status s = limits_.check(bytes); !s.ok()) return done(s);
    auto attempt = [self = shared_from_this(), tuple = std::move(tuple), bytes]() mutable {
      if (self->limits_.too_many(self->items_.size()) || self->limits_.too_big(self->bytes_ + bytes)) return Waiters::wait();
      self->items_.push_back(std::move(tuple));
      self->bytes_ += bytes;
      return Waiters::finished();
    };
    waiters_.submit(Waiters::kFirst, std::move(attempt), std::move(done), stop_with(c));
  }
  // The first tuple is taken out; one that is only looked at is not.
  void get(KernelContext& c, Kernel::Done done) {
    auto attempt = [self = shared_from_this(), &c] {
      if (self->items_.empty()) return Waiters::wait();
      Tuple tuple = std::move(self->items_.front());
      self->items_.pop_front();
      self->bytes_ -= bytes_of(tuple);
      return Waiters::finished(emit(c, tuple, 0));
    };
    waiters_.submit(Waiters::kSecond, std::move(attempt), std::move(done), stop_with(c));
  }
  void peek(KernelContext& c, size_t index, Kernel::Done done) {
    auto attempt = [self = shared_from_this(), &c, index] {
      if (index >= self->items_.size()) return Waiters::wait();
      return Waiters::finished(emit(c, self->items_[index], 0));
    };
    waiters_.submit(Waiters::kFree, std::move(attempt), std::move(done), stop_with(c));
  }
  void clear() {
    waiters_.change([&] {
      items_.clear();
      bytes_ = 0;
    });
  }
  size_t size() const {
    std::lock_guard lock(waiters_.mutex());
    return items_.size();
  }

 private:
  const Limits limits_;
  Waiters waiters_;  // its mutex guards what follows
  std::deque<Tuple> items_;
  int64_t bytes_ = 0;
};

void run_stage(KernelContext& c, Kernel::Done done) {
  auto area = StagingArea::of(c);
  if (!area.ok()) return done(area.status());
  (*area)->put(c, values_of(c), std::move(done));
}

void run_unstage(KernelContext& c, Kernel::Done done) {
  auto area = StagingArea::of(c);
  if (!area.ok()) return done(area.status());
  (*area)->get(c, std::move(done));
}

void run_stage_peek(KernelContext& c, Kernel::Done done) {
  auto area = StagingArea::of(c);
  if (!area.ok()) return done(area.status());
  if (c.input(0).num_elements() != 1) return done(invalid_argument("index must be a scalar, got shape ", c.input(0).shape()));
  const int32_t index = c.input(0).data<int32_t>()[0];
  if (index < 0) return done(invalid_argument("index must not be negative, got ", index));
  (*area)->peek(c, size_t(index), std::move(done));
}

Status run_stage_size(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<StagingArea> area, StagingArea::of(c));
  c.set_output(0, Tensor::scalar(int32_t(area->size())));
  return {};
}

Status run_stage_clear(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<StagingArea> area, StagingArea::of(c));
  area->clear();
  return {};
}

// Both kinds are kept in order of their keys: the unordered one promises none, so this serves it too.
class StagingMap final : public Resource, public std::enable_shared_from_this<StagingMap> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_110StagingMapE";
  StagingMap(const Limits& limits, size_t width) : limits_(limits), width_(width) {}
  static Result<std::shared_ptr<StagingMap>> of(const KernelContext& c) {
    return shared_resource<StagingMap>(c, [&]() -> Result<std::shared_ptr<StagingMap>> {
      return std::make_shared<StagingMap>(Limits(c), c.attr<std::vector<DType>>("dtypes").size());
    });
  }
  std::string type_name() const override { return "StagingMap"; }

  void put(const KernelContext& c, int64_t key, std::vector<int32_t> indices, Tuple values, Kernel::Done done) {
    const int64_t bytes = bytes_of(values);
    if (Status s = limits_.check(bytes); !s.ok()) return done(s);
    auto attempt = [self = shared_from_this(), key, indices = std::move(indices), values = std::move(values), bytes]() mutable {
      if (self->limits_.too_big(self->bytes_ + bytes)) return Waiters::wait();
      if (indices.size() == self->width_) {
        if (self->limits_.too_many(self->whole_.size())) return Waiters::wait();
        if (self->whole_.emplace(key, std::move(values)).second) self->bytes_ += bytes;
        return Waiters::finished();
      }
      return Waiters::finished(self->put_part(key, indices, values, bytes));
    };
    waiters_.submit(Waiters::kFree, std::move(attempt), std::move(done), stop_with(c));
  }

  // Without a key: the smallest. `take` removes the values.
  void get(KernelContext& c, std::optional<int64_t> key, std::vector<int32_t> indices, bool take, Kernel::Done done) {
    auto attempt = [self = shared_from_this(), &c, key, indices = std::move(indices), take] {
      auto it = key ? self->whole_.find(*key) : self->whole_.begin();
      if (it == self->whole_.end()) return Waiters::wait();
      const int64_t found = it->first;
      Tuple out;
      if (Status s = self->copy(it, indices, take, out); !s.ok()) return Waiters::finished(s);
      if (!key) c.set_output(0, Tensor::scalar(found));
      return Waiters::finished(emit(c, out, key ? 0 : 1));
    };
    waiters_.submit(Waiters::kFree, std::move(attempt), std::move(done), stop_with(c));
  }

  void clear() {
    waiters_.change([&] {
      whole_.clear();
      parts_.clear();
      bytes_ = 0;
    });
  }
  size_t size(bool incomplete) const {
    std::lock_guard lock(waiters_.mutex());
    return incomplete ? parts_.size() : whole_.size();
  }

 private:
  using Map = std::map<int64_t, Tuple>;

  Status check_index(int64_t key, int32_t index) const {
    if (index >= 0 && size_t(index) < width_) return {};
    return invalid_argument("Index '", index, "' for key '", key, "' is out of bounds '", width_, "'.");
  }

  Status put_part(int64_t key, const std::vector<int32_t>& indices, const Tuple& values, int64_t bytes) {
    for (int32_t index : indices) WEFT_RETURN_IF_ERROR(check_index(key, index));
    auto [it, fresh] = parts_.try_emplace(key, Tuple(width_));
    for (size_t i = 0; i < indices.size(); ++i) {
      Tensor& slot = it->second[size_t(indices[i])];
      if (slot.valid())
        return invalid_argument("The tensor for index '", indices[i], "' for key '", key, "' was already initialized '", width_, "'.");
      slot = values[i];
    }
    bytes_ += bytes;
    for (const Tensor& t : it->second) {
      if (!t.valid()) return {};
    }
    whole_.emplace(key, std::move(it->second));
    parts_.erase(it);
    return {};
  }

  Status copy(Map::iterator it, const std::vector<int32_t>& indices, bool take, Tuple& out) {
    for (int32_t index : indices) {
      WEFT_RETURN_IF_ERROR(check_index(it->first, index));
      if (size_t(index) >= it->second.size() || !it->second[size_t(index)].valid())
        return invalid_argument("Tensor at index '", index, "' for key '", it->first, "' has already been removed.");
    }
    for (int32_t index : indices) {
      Tensor& t = it->second[size_t(index)];
      out.push_back(t);
      if (!take) continue;
      bytes_ -= int64_t(t.byte_size());
      t = {};
    }
    if (bytes_of(it->second) == 0 && std::none_of(it->second.begin(), it->second.end(), [](const Tensor& t) { return t.valid(); })) whole_.erase(it);
    return {};
  }

  const Limits limits_;
  const size_t width_;  // tensors of one whole tuple
  Waiters waiters_;     // its mutex guards what follows
  Map whole_, parts_;
  int64_t bytes_ = 0;
};

Result<int64_t> key_input(const KernelContext& c) {
  const Tensor& key = c.input("key");
  if (key.num_elements() < 1) return invalid_argument("key must not be empty");
  if (key.num_elements() != 1) return invalid_argument("key must be an int64 scalar, got tensor with shape: ", key.shape());
  return key.data<int64_t>()[0];
}

Result<std::vector<int32_t>> indices_input(const KernelContext& c) {
  const auto given = c.input("indices").span<int32_t>();
  std::vector<int32_t> indices(given.begin(), given.end());
  if (std::adjacent_find(indices.begin(), indices.end(), [](int32_t a, int32_t b) { return a >= b; }) != indices.end())
    return invalid_argument("Indices are not strictly ordered");
  return indices;
}

Status start_map_stage(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<StagingMap> map, StagingMap::of(c));
  WEFT_ASSIGN(int64_t key, key_input(c));
  WEFT_ASSIGN(std::vector<int32_t> indices, indices_input(c));
  Tuple values = values_of(c);
  if (values.size() != indices.size()) return invalid_argument("Expected as many values as indices, got ", values.size(), " vs. ", indices.size());
  map->put(c, key, std::move(indices), std::move(values), std::move(done));
  return {};
}

void run_map_stage(KernelContext& c, Kernel::Done done) {
  if (Status s = start_map_stage(c, done); !s.ok()) done(s);
}

template <bool kTake>
Status start_map_get(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<StagingMap> map, StagingMap::of(c));
  std::optional<int64_t> key;
  if (c.num_inputs() == 2) {
    WEFT_ASSIGN(key, key_input(c));
  }
  WEFT_ASSIGN(std::vector<int32_t> indices, indices_input(c));
  map->get(c, key, std::move(indices), kTake, std::move(done));
  return {};
}

template <bool kTake>
void run_map_get(KernelContext& c, Kernel::Done done) {
  if (Status s = start_map_get<kTake>(c, done); !s.ok()) done(s);
}

template <bool kIncomplete>
Status run_map_size(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<StagingMap> map, StagingMap::of(c));
  c.set_output(0, Tensor::scalar(int32_t(map->size(kIncomplete))));
  return {};
}

Status run_map_clear(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<StagingMap> map, StagingMap::of(c));
  map->clear();
  return {};
}

}  // namespace

void staging(Registry& r) {
  r.add("Stage")
      .doc("Puts a tuple of tensors into a staging area when there is room.")
      .in("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu_make(AsyncKernel<run_stage>::create);

  r.add("StageClear")
      .doc("Empties a staging area.")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu(run_stage_clear);

  r.add("StagePeek")
      .doc("Reads the tuple at a place of a staging area when there is one.")
      .in("index: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_stage_peek>::create);

  r.add("StageSize")
      .doc("Gives the number of tuples in a staging area.")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu(run_stage_size);

  r.add("Unstage")
      .doc("Takes the first tuple out of a staging area when there is one.")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_unstage>::create);

  r.add("MapClear")
      .doc("Empties a staging map.")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu(run_map_clear);

  r.add("MapIncompleteSize")
      .doc("Gives the number of keys of a staging map that lack values.")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu(run_map_size<true>);

  r.add("MapPeek")
      .doc("Reads values of a key of a staging map when it is there.")
      .in("key: int64")
      .in("indices: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_map_get<false>>::create);

  r.add("MapSize")
      .doc("Gives the number of whole tuples in a staging map.")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu(run_map_size<false>);

  r.add("MapStage")
      .doc("Puts values of a key into a staging map when there is room.")
      .in("key: int64")
      .in("indices: int32")
      .in("values: fake_dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("fake_dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu_make(AsyncKernel<run_map_stage>::create);

  r.add("MapUnstage")
      .doc("Takes values of a key out of a staging map when it is there.")
      .in("key: int64")
      .in("indices: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_map_get<true>>::create);

  r.add("MapUnstageNoKey")
      .doc("Takes values of some key out of a staging map when there is one.")
      .in("indices: int32")
      .out("key: int64")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_map_get<true>>::create);

  r.add("OrderedMapClear")
      .doc("Empties a staging map in order of keys.")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu(run_map_clear);

  r.add("OrderedMapIncompleteSize")
      .doc("Gives the number of keys of a staging map in order of keys that lack values.")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu(run_map_size<true>);

  r.add("OrderedMapPeek")
      .doc("Reads values of a key of a staging map in order of keys when it is there.")
      .in("key: int64")
      .in("indices: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_map_get<false>>::create);

  r.add("OrderedMapSize")
      .doc("Gives the number of whole tuples in a staging map in order of keys.")
      .out("size: int32")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu(run_map_size<false>);

  r.add("OrderedMapStage")
      .doc("Puts values of a key into a staging map in order of keys when there is room.")
      .in("key: int64")
      .in("indices: int32")
      .in("values: fake_dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type)")
      .attr("fake_dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu_make(AsyncKernel<run_map_stage>::create);

  r.add("OrderedMapUnstage")
      .doc("Takes values of a key out of a staging map in order of keys when it is there.")
      .in("key: int64")
      .in("indices: int32")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_map_get<true>>::create);

  r.add("OrderedMapUnstageNoKey")
      .doc("Takes values of the smallest key out of a staging map in order of keys when there is one.")
      .in("indices: int32")
      .out("key: int64")
      .out("values: dtypes")
      .attr("capacity: int >= 0 = 0")
      .attr("memory_limit: int >= 0 = 0")
      .attr("dtypes: list(type) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_map_get<true>>::create);
}

}  // namespace weft_engine::ops
