// Tape: remembers what ran, so that gradients can be walked back. It hears of ops through the thread's tape
// stack, whether they ran eagerly or were traced into a graph, and speaks of values by identity alone.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "op/gradient.h"

namespace weft_engine::autodiff {

using namespace weft_engine::op;

enum class Unconnected { kNone, kZero };

// The gradient of something that is no single op: a traced function, a custom gradient. Gets the gradients of
// the outputs (empty where nothing flowed) and gives one for each input (or empty).
using Backprop = std::function<Result<Grads>(Emitter& emitter, std::span<const Value> output_grads)>;

// Which value it is: the handle of an eager one, the node and output of one in a graph.
struct ValueId {
  const void* of = nullptr;
  int64_t output = 0;
  bool operator==(const ValueId&) const = default;
  explicit operator bool() const { return of != nullptr; }
  struct Hash {
    size_t operator()(const ValueId& id) const { return size_t(reinterpret_cast<uintptr_t>(id.of) >> 4) * 0x9e3779b97f4a7c15u + size_t(id.output); }
  };
};
ValueId id_of(const Value& v);  // none for an empty value and for slices

// A small number for each value that a tape knows. Open addressing: a tape of a training step has dozens of values, and
// every op that runs asks for each of its inputs.
class SlotMap {
 public:
  int32_t find(const ValueId& id) const;  // -1 if it is not there
  void set(const ValueId& id, int32_t slot);
  bool empty() const { return used_ == 0; }
  void clear();

 private:
  struct Cell {
    ValueId id;
    int32_t slot = -1;
  };
  size_t place(const ValueId& id) const;
  std::vector<Cell> cells_;
  size_t used_ = 0;
};

class Tape {
 public:
  // Keeps recorded values for several questions when persistent.
  explicit Tape(bool persistent, bool watch_accessed_variables = true) : persistent_(persistent), watch_accessed_(watch_accessed_variables) {}

  void watch(const Value& v);
  bool watches(const Value& v) const { return slot_of(v) >= 0; }
  bool watches(const ValueId& id) const { return slots_.find(id) >= 0; }
  bool watches_any(std::span<const Value> values) const;

  // A trainable variable is used: watched, unless the tape does not want that. `owner` stands for the variable in variables().
  void access(const Value& handle, const std::shared_ptr<void>& owner) {
    if (watch_accessed_) watch_variable(handle, owner);
  }
  void watch_variable(const Value& handle, const std::shared_ptr<void>& owner);
  const std::vector<std::shared_ptr<void>>& variables() const { return variables_; }  // in the order of their first use

  // `keep` owns `node`. Ignored unless an input is watched.
  void record(const NodeInfo& node, const std::shared_ptr<const void>& keep, std::span<const Value> inputs, std::span<const Value> outputs);
  // `answers_integers`: asked for an output that has no gradient, it is asked for zeros of the others.
  void record(std::string_view name, std::span<const Value> inputs, std::span<const Value> outputs, Backprop backprop, bool answers_integers = false);
  void reset();
  // How many traces were open around the code that started it first.
  int depth() const { return depth_; }
  void start_at(int depth) { depth_ = std::min(depth_, depth); }
  // A node in a graph that gave `outputs` gives more now: gradients of the second order flow back through these.
  void grow(std::span<const Value> outputs, std::span<const Value> more);

  // The gradients of the sum of `targets` with respect to each source: empty, or zeros, where they are not connected.
  // `seeds` are the gradients of the targets; ones where the list or an entry is empty. FailedPrecondition for the second question
  // to a tape that is not persistent. Emits on `emitter`.
  Result<std::vector<Value>> gradient(Emitter& emitter, std::span<const Value> targets, std::span<const Value> sources, std::span<const Value> seeds,
                                      Unconnected unconnected = Unconnected::kNone);
  bool persistent() const { return persistent_; }
  void set_persistent(bool on) { persistent_ = on; }  // for a question that is asked in several parts
  void forget();  // what was recorded; it was asked
  bool used() const { return used_; }
  int64_t num_records() const { return int64_t(records_.size()); }

 private:
  struct Custom {
    std::string name;
    Backprop backprop;
    bool answers_integers = false;
  };
  // Inputs, then outputs, in one array, with the slots of both beside them.
  struct Record {
    const NodeInfo* node = nullptr;  // null: a custom one
    std::shared_ptr<const void> keep;
    std::unique_ptr<const Custom> custom;
    std::unique_ptr<Value[]> values;
    std::unique_ptr<int32_t[]> slots;
    size_t num_inputs = 0, num_outputs = 0;
    std::span<const Value> inputs() const { return {values.get(), num_inputs}; }
    std::span<const Value> outputs() const { return {values.get() + num_inputs, num_outputs}; }
  };
  int32_t slot_of(const Value& v) const { return slots_.empty() ? -1 : slots_.find(id_of(v)); }
  int32_t new_slot(const Value& v, int64_t record);
  // Null where no input is watched.
  Record* add(std::span<const Value> inputs, std::span<const Value> outputs);
  Result<Grads> back(Emitter& emitter, const Record& r, std::span<const Value> output_grads) const;
  class Walk;

  bool persistent_;
  const bool watch_accessed_;
  bool used_ = false;
  int depth_ = std::numeric_limits<int>::max();
  std::deque<Record> records_;  // a question may be recorded itself while it walks these
  // Every value that depends on something watched has a slot, and the record that made it (-1: watched itself).
  SlotMap slots_;
  std::vector<int64_t> made_by_;
  std::vector<Value> watched_;  // keeps their identities
  std::vector<std::shared_ptr<void>> variables_;
};

// The tapes that listen on this thread. Those that were started outside of a trace hear of what happens inside, too: the code that is traced may ask
// them. What they need of a call they find when they are asked.
class TapeStack {
 public:
  static TapeStack& current();
  void push(Tape* tape) {
    tape->start_at(depth_);
    tapes_.push_back(tape);
  }
  // A trace begins or ends; tapes that were started in it and not stopped are dropped.
  void enter() { ++depth_; }
  void leave();
  void pop(Tape* tape);
  bool recording() const { return !tapes_.empty() && paused_ == 0; }
  // While paused, nothing is recorded; calls nest.
  void pause() { ++paused_; }
  void resume() { --paused_; }
  bool wants(std::span<const Value> inputs) const;
  bool wants(const ValueId& id) const;
  // The same, of the tapes that were started in the trace that is open.
  bool own_wants(std::span<const Value> inputs) const;
  void record(const NodeInfo& node, const std::shared_ptr<const void>& keep, std::span<const Value> inputs, std::span<const Value> outputs);
  void record(std::string_view name, std::span<const Value> inputs, std::span<const Value> outputs, const Backprop& backprop);
  const std::vector<Tape*>& tapes() const { return tapes_; }
  int paused() const { return paused_; }

 private:
  std::vector<Tape*> tapes_;
  int paused_ = 0, depth_ = 0;
};

// Another, empty stack while it lives: for code that no tape outside may hear of.
class FreshTapes {
 public:
  FreshTapes() { std::swap(saved_, TapeStack::current()); }
  ~FreshTapes() { std::swap(saved_, TapeStack::current()); }
  FreshTapes(const FreshTapes&) = delete;

 private:
  TapeStack saved_;
};

// Nothing is recorded while it lives.
class PausedTapes {
 public:
  PausedTapes() { TapeStack::current().pause(); }
  ~PausedTapes() { TapeStack::current().resume(); }
  PausedTapes(const PausedTapes&) = delete;
};

}  // namespace weft_engine::autodiff
