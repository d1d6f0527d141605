// The executor: deadlines, errors that end all calls, and the algorithms. A reduction goes around a ring as TensorFlow's does, chunk by
// chunk, so that sums of floats have its bits: chunk c starts at rank c, each member adds what it receives to its own, the last one has
// the sum, which then goes around once more. Small ones need fewer messages in a row where all members know it: the parts of a chunk go to its last member at
// once, which sums them in the ring's order, and has the sum for everybody; the smallest tensors go to all members as they are.
#include "op/collective.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <thread>

namespace weft_engine::op {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kAlign = 64, kMaxChunkBytes = int64_t(4) << 20;
constexpr int kMaxSubdivs = 2;
constexpr int kMostDirect = 16;  // members
constexpr int64_t kDirectBytes = int64_t(8) << 20, kWholeBytes = int64_t(16) << 10;  // of a tensor: parts of chunks go directly; all of it does

// A chunk of the tensor and the ring it goes around.
struct Field {
  int64_t begin, end;  // elements
  int chunk, index;  // place where it starts in the ring; number in keys
  int rank, previous, next;  // this member's place in the ring; neighbours as ranks of the group
  int previous_place;
  std::vector<int> order;  // ranks in which it is summed
};

// The task of a device: its name without the device.
std::string_view task_of_device(std::string_view device) { return device.substr(0, device.find("/device:")); }

// How many devices each task has, in the order of the group.
std::vector<int> devices_by_task(const CollectiveMembers& members) {
  std::vector<int> counts;
  for (size_t i = 0; i < members.devices.size(); ++i) {
    if (i == 0 || task_of_device(members.devices[i]) != task_of_device(members.devices[i - 1])) counts.push_back(0);
    ++counts.back();
  }
  return counts;
}

Result<std::vector<int64_t>> subdiv_offsets(const CollectiveParams& p, int num_tasks) {
  if (!p.subdiv_offsets.empty()) return p.subdiv_offsets;
  if (p.max_subdivs_per_device == -1) return std::vector<int64_t>{0};
  if (p.shape.num_elements() == 0) return internal_error("shape in CollectiveParams should be non-empty");
  const int64_t by_task = (p.group.size + num_tasks - 1) / num_tasks;
  const int64_t most = (p.max_subdivs_per_device > 0 ? std::min<int64_t>(p.max_subdivs_per_device, 1 << 20) : kMaxSubdivs) * by_task;
  const int64_t bytes = p.shape.num_elements() * int64_t(dtype_size(p.dtype));
  int64_t n = 1;
  while (bytes / (p.group.size * n) > kMaxChunkBytes && n < most) ++n;
  const int64_t stride = std::max<int64_t>(1, by_task / n);
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < n; ++i) offsets.push_back(stride * i * (i % 2 ? -1 : 1));
  return offsets;
}

// The group in the order of one ring: the devices of each task begin at the offset; a negative one turns them around.
std::vector<int> ring_order(const std::vector<int>& by_task, int64_t offset) {
  std::vector<int> order;
  int before = 0;
  for (int n : by_task) {
    const int first = int(offset < 0 ? -(offset % n) : offset % n);
    for (int i = 0; i < n; ++i) order.push_back(before + (offset < 0 ? n - 1 - (i + first) % n : (i + first) % n));
    before += n;
  }
  return order;
}

// Elements of a chunk, as TensorFlow aligns them: a chunk that is aligned already gets another 64 bytes.
int64_t aligned_chunk(int64_t element_bytes, int64_t elements, int64_t chunks) {
  const int64_t base = (elements + chunks - 1) / chunks;
  return base + (kAlign - base * element_bytes % kAlign) / element_bytes;
}

Result<std::vector<Field>> ring_plan(const CollectiveParams& p, const CollectiveMembers& members, int rank) {
  const std::vector<int> by_task = devices_by_task(members);
  WEFT_ASSIGN(const std::vector<int64_t> offsets, subdiv_offsets(p, int(by_task.size())));
  const int n = p.group.size, subdivs = int(offsets.size());
  std::vector<std::vector<int>> rings;
  for (int64_t offset : offsets) rings.push_back(ring_order(by_task, offset));
  const int64_t total = p.shape.num_elements(), each = aligned_chunk(int64_t(dtype_size(p.dtype)), total, int64_t(n) * subdivs);
  std::vector<Field> fields;
  for (int chunk = 0; chunk < n; ++chunk) {
    for (int s = 0; s < subdivs; ++s) {
      const int index = chunk * subdivs + s;
      const int64_t begin = std::min(total, index * each), end = std::min(total, begin + each);
      if (begin == end) continue;
      const std::vector<int>& ring = rings[size_t(s)];
      const int place = int(std::find(ring.begin(), ring.end(), rank) - ring.begin()), previous = (place + n - 1) % n;
      std::vector<int> order(ring);
      std::rotate(order.begin(), order.begin() + chunk, order.end());
      fields.push_back({begin, end, chunk, index, place, ring[size_t(previous)], ring[size_t((place + 1) % n)], previous, std::move(order)});
    }
  }
  return fields;
}

// How the caller ends a call. What the call leaves in the lists of others may be called after its end, when the caller's manager has gone: the group's last member
// tells all who wait, while a deadline ends one of them. Others therefore get a manager that lives as long as the call, and the caller's hears of nobody but this.
class Stop {
 public:
  explicit Stop(CancellationManager* caller) : caller_(caller) {}
  // Before the call may end; `owner` keeps this object.
  void listen(std::weak_ptr<Stop> owner) {
    if (!caller_) return;
    token_ = caller_->get_token();
    const bool listening = caller_->register_callback(token_, [owner = std::move(owner)] {
      if (auto self = owner.lock()) self->own_.start_cancel();
    });
    if (!listening) own_.start_cancel();
  }
  // At the end of the call, while the caller's manager is still there. Without waiting: a callback that runs keeps this object.
  void leave() {
    if (caller_) caller_->try_deregister_callback(token_);
  }
  // Null where nobody can cancel the call.
  CancellationManager* manager() { return caller_ ? &own_ : nullptr; }
  // Before leave().
  bool cancelled() const { return caller_ && caller_->cancelled(); }

 private:
  CancellationManager* const caller_;
  CancellationManager::Token token_ = 0;
  CancellationManager own_;
};

}  // namespace

int CollectiveMembers::rank_of(const std::string& device) const { return int(std::find(devices.begin(), devices.end(), device) - devices.begin()); }

// Calls back when time is up, on a thread that is there once somebody waits.
class CollectiveExecutor::Deadlines {
 public:
  ~Deadlines() {
    {
      std::lock_guard lock(state_->mutex);
      state_->over = true;
      state_->changed.notify_all();
    }
    if (!thread_.joinable()) return;
    // The last holder of the executor may be a callback of this very thread.
    if (thread_.get_id() == std::this_thread::get_id()) thread_.detach();
    else thread_.join();
  }
  int64_t add(double seconds, std::function<void()> callback) {
    constexpr double kLongest = 1e9;
    std::lock_guard lock(state_->mutex);
    const int64_t id = state_->next++;
    const auto when = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, kLongest)));
    state_->waiting.emplace(when, std::make_pair(id, std::move(callback)));
    state_->changed.notify_all();
    if (!thread_.joinable()) thread_ = std::thread(watch, state_);
    return id;
  }
  void remove(int64_t id) {
    std::lock_guard lock(state_->mutex);
    std::erase_if(state_->waiting, [&](const auto& w) { return w.second.first == id; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
    int64_t next = 1;
    std::multimap<Clock::time_point, std::pair<int64_t, std::function<void()>>> waiting;
  };
  static void watch(std::shared_ptr<State> s) {
    std::unique_lock lock(s->mutex);
    while (!s->over) {
      if (s->waiting.empty()) {
        s->changed.wait(lock);
      } else if (const auto when = s->waiting.begin()->first; when > Clock::now()) {
        s->changed.wait_until(lock, when);
      } else {
        auto callback = std::move(s->waiting.begin()->second.second);
        s->waiting.erase(s->waiting.begin());
        lock.unlock();
        callback();
        callback = nullptr;  // may hold the last reference to the executor
        lock.lock();
      }
    }
  }
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

// One call of one member.
class CollectiveExecutor::Run : public std::enable_shared_from_this<Run> {
 public:
  Run(std::shared_ptr<CollectiveExecutor> executor, CollectiveParams params, Tensor input, CancellationManager* cancellation, Done done)
      : e_(std::move(executor)),
        p_(std::move(params)),
        input_(std::move(input)),
        stop_(cancellation),
        done_(std::move(done)),
        id_(e_->next_run_.fetch_add(1)) {
    e_->under_way_.fetch_add(1, std::memory_order_relaxed);
  }

  void start() {
    stop_.listen(std::shared_ptr<Stop>(shared_from_this(), &stop_));
    watch("Collective has timed out waiting for other workers.");
    e_->resolver_->complete_group_async(
        p_.group, stop_.manager(), [self = shared_from_this()](Status s, std::shared_ptr<const CollectiveMembers> members) {
          if (!s.ok()) return self->fail(std::move(s));
          self->members_ = std::move(members);
          self->rank_ = self->members_->rank_of(self->p_.group.device);
          if (self->p_.type == CollectiveType::kReduceScatter || self->p_.type == CollectiveType::kPermute)  // TensorFlow has none for CPUs
            return self->fail(internal_error("CollectiveRegistry::Lookup did not find collective implementation undef"));
          if (!self->register_cancellation()) return self->fail(cancelled("Collective op is cancelled"));
          self->e_->resolver_->complete_instance_async(self->p_, *self->members_, [self](Status t, int source) {
            if (!t.ok()) return self->fail(std::move(t));
            self->source_ = source;
            self->execute();
          });
        });
    if (!over_.load()) e_->access_->help(id_, over_, e_->under_way_);
  }

 private:
  int size() const { return p_.group.size; }
  const std::string& device(int rank) const { return members_->devices[size_t(rank)]; }
  // TensorFlow's, with frame and iteration of the op: in functions both are 0.
  std::string call_key() const { return cat(p_.group.key, ":", p_.instance_key, ":0:0"); }
  std::string key(int pass, int section, int source) const { return cat(call_key(), ":", pass, ":", section, ":", source); }

  std::string_view task(int rank) const { return task_of_device(device(rank)); }
  // Of all-to-all. TensorFlow's has nothing between the numbers: 1 and 11 are as 11 and 1, which only members of one task would meet.
  std::string pair_key(int from, int to) const { return cat(call_key(), from, task(from) == task(to) ? ":" : "", to); }

  // From now on this phase must end in time.
  void watch(const char* text) {
    if (p_.timeout_seconds <= 0) return;
    unwatch();
    const int64_t id = e_->deadlines_->add(p_.timeout_seconds, [weak = weak_from_this(), text] {
      auto self = weak.lock();
      if (!self || self->over_.exchange(true)) return;
      Status s = deadline_exceeded(text);
      self->e_->start_abort(s);
      self->end(std::move(s), {});
    });
    deadline_.store(id);
    if (over_.load()) unwatch();
  }
  void unwatch() {
    if (const int64_t id = deadline_.exchange(0)) e_->deadlines_->remove(id);
  }

  // False: cancelled already. (Until the group is complete the resolver ensures it.)
  bool register_cancellation() {
    CancellationManager* const manager = stop_.manager();
    return !manager || manager->register_callback(manager->get_token(), [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->fail(cancelled("Collective op is cancelled"));
    });
  }

  void execute() {
    watch("Collective has timed out during execution.");
    switch (p_.type) {
      case CollectiveType::kReduction: return reduce();
      case CollectiveType::kBroadcast: return broadcast();
      case CollectiveType::kGather: return gather();
      default: return all_to_all();
    }
  }

  void fail(Status s) {
    if (over_.exchange(true)) return;
    if (!stop_.cancelled()) e_->start_abort(s);
    end(e_->error_of(s), {});
  }
  void succeed(Tensor result) {
    value_ = std::move(result);
    release();
  }
  // The result is there and all that was sent was taken: the call ends.
  void release() {
    if (holds_.fetch_sub(1) == 1 && !over_.exchange(true)) end({}, std::move(value_));
  }
  // Whoever set over_ comes here.
  void end(Status s, Tensor result) {
    if (!s.ok()) e_->access_->retract(id_);
    unwatch();
    stop_.leave();  // the caller's objects are freed when done returns
    e_->under_way_.fetch_sub(1, std::memory_order_relaxed);
    e_->access_->resume(id_,
                        [done = std::move(done_), s = std::move(s), result = std::move(result)]() mutable { done(std::move(s), std::move(result)); });
  }

  void send(int to, const std::string& k, Tensor t) {
    if (over_.load()) return;
    holds_.fetch_add(1);
    e_->access_->send(device(to), k, std::move(t), id_, [self = shared_from_this()](Status s) {
      if (s.ok()) self->release();
      else self->fail(std::move(s));
    });
  }
  template <class F>
  void recv(int from, const std::string& k, const Shape& shape, F then) {
    if (over_.load()) return;
    e_->access_->recv_async(device(from), k, p_.dtype, shape, id_, [self = shared_from_this(), then = std::move(then)](Status s, Tensor t) {
      if (self->over_.load()) return;
      if (!s.ok()) return self->fail(std::move(s));
      then(*self, std::move(t));
    });
  }

  // A part of the result is there; the last one ends the call.
  void part_done(size_t i, Tensor t) {
    parts_[i] = std::move(t);
    if (left_.fetch_sub(1) != 1) return;
    auto made = assemble();
    if (made.ok()) succeed(std::move(made).value());
    else fail(made.status());
  }
  Result<Tensor> assemble() {
    if (parts_.size() == 1 && parts_[0].num_elements() == p_.shape.num_elements()) return parts_[0].reshaped(p_.shape);
    WEFT_ASSIGN(Tensor out, Tensor::allocate(p_.dtype, p_.shape));
    int64_t at = 0;
    for (const Tensor& t : parts_) {
      if (at + t.num_elements() > out.num_elements())
        return internal_error("the members of collective instance ", p_.instance_key, " sent more than they said");
      copy_elements(t, 0, out, at, t.num_elements());
      at += t.num_elements();
    }
    if (at != out.num_elements()) return internal_error("the members of collective instance ", p_.instance_key, " sent less than they said");
    return out;
  }
  void expect_parts(size_t n) {
    parts_.resize(n);
    left_.store(int64_t(n));
  }

  void reduce() {
    auto plan = ring_plan(p_, *members_, rank_);
    if (!plan.ok()) return fail(plan.status());
    fields_ = std::move(plan).value();
    if (fields_.empty()) return succeed(input_);
    expect_parts(fields_.size());
    flat_ = input_.reshaped(Shape({input_.num_elements()}));
    const int64_t bytes = int64_t(input_.byte_size());
    if (members_->direct && size() > 1 && size() <= kMostDirect && bytes <= kDirectBytes)
      return bytes <= kWholeBytes ? exchange_all() : exchange_chunks();
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Field& f = fields_[i];
      Tensor own = flat_.slice_rows(f.begin, f.end);
      if (f.rank == f.chunk) {
        first_pass(i, std::move(own));
        continue;
      }
      const Shape shape = own.shape();
      recv(f.previous, key(0, f.index, f.previous_place), shape, [i, own = std::move(own)](Run& run, Tensor received) {
        if (received.num_elements() != own.num_elements() || received.dtype() != own.dtype())
          return run.fail(internal_error("a member of collective instance ", run.p_.instance_key, " sent a chunk of another size"));
        auto merged = run.p_.merge(own, received);
        if (merged.ok()) run.first_pass(i, std::move(merged).value());
        else run.fail(merged.status());
      });
    }
  }
  // The chunk has this member's part.
  void first_pass(size_t i, Tensor sum) {
    const Field& f = fields_[i];
    const int n = size(), last = (f.chunk + n - 1) % n;
    if (f.rank == last) {
      if (p_.finish) {
        auto finished = p_.finish(sum, n);
        if (!finished.ok()) return fail(finished.status());
        sum = std::move(finished).value();
      }
      return second_pass(i, std::move(sum));
    }
    const Shape shape = sum.shape();
    send(f.next, key(0, f.index, f.rank), std::move(sum));
    recv(f.previous, key(1, f.index, f.previous_place), shape, [i](Run& run, Tensor received) { run.second_pass(i, std::move(received)); });
  }
  void second_pass(size_t i, Tensor sum) {
    const Field& f = fields_[i];
    const int n = size();
    if (n > 1 && f.rank != (f.chunk + 2 * n - 2) % n) send(f.next, key(1, f.index, f.rank), sum);
    part_done(i, std::move(sum));
  }

  // The sum of a chunk from what all members have of it.
  Result<Tensor> sum_of(const Field& f, const std::vector<Tensor>& by_rank) {
    Tensor sum = by_rank[size_t(f.order[0])];
    for (size_t k = 1; k < f.order.size(); ++k) {
      WEFT_ASSIGN(sum, p_.merge(by_rank[size_t(f.order[k])], sum));
    }
    if (p_.finish) {
      WEFT_ASSIGN(sum, p_.finish(sum, size()));
    }
    return sum;
  }
  std::string direct_key(int phase, int index, int from, int to) const { return cat(call_key(), ":direct:", phase, ":", index, ":", from, ":", to); }
  // What all members have, of a chunk or of everything. The last that comes ends it.
  struct Gathered {
    std::vector<Tensor> by_rank;
    std::atomic<int> left;
    Gathered(int n, int own, Tensor t) : by_rank(size_t(n)), left(n - 1) { by_rank[size_t(own)] = std::move(t); }
  };
  template <class F>
  void gather_from_all(int phase, int index, const Tensor& own, F then) {
    auto all = std::make_shared<Gathered>(size(), rank_, own);
    for (int r = 0; r < size(); ++r) {
      if (r == rank_) continue;
      recv(r, direct_key(phase, index, r, rank_), own.shape(), [all, r, then](Run& run, Tensor t) {
        const Tensor& mine = all->by_rank[size_t(run.rank_)];
        if (t.num_elements() != mine.num_elements() || t.dtype() != mine.dtype())
          return run.fail(internal_error("a member of collective instance ", run.p_.instance_key, " sent a chunk of another size"));
        all->by_rank[size_t(r)] = std::move(t);
        if (all->left.fetch_sub(1) == 1) then(run, all->by_rank);
      });
    }
  }
  void send_to_all(int phase, int index, const Tensor& t) {
    for (int r = 0; r < size(); ++r) {
      if (r != rank_) send(r, direct_key(phase, index, rank_, r), t);
    }
  }
  void exchange_all() {
    send_to_all(0, 0, flat_);
    gather_from_all(0, 0, flat_, [](Run& run, const std::vector<Tensor>& all) {
      for (size_t i = 0; i < run.fields_.size(); ++i) {
        const Field& f = run.fields_[i];
        std::vector<Tensor> chunks;
        chunks.reserve(all.size());
        for (const Tensor& t : all) chunks.push_back(t.slice_rows(f.begin, f.end));
        run.summed(i, run.sum_of(f, chunks));
      }
    });
  }
  void exchange_chunks() {
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Field& f = fields_[i];
      Tensor own = flat_.slice_rows(f.begin, f.end);
      if (f.order.back() == rank_) {
        gather_from_all(0, f.index, own, [i](Run& run, const std::vector<Tensor>& all) {
          auto sum = run.sum_of(run.fields_[i], all);
          if (sum.ok()) run.send_to_all(1, run.fields_[i].index, *sum);
          run.summed(i, std::move(sum));
        });
        continue;
      }
      const int owner = f.order.back();
      const Shape shape = own.shape();
      send(owner, direct_key(0, f.index, rank_, owner), std::move(own));
      recv(owner, direct_key(1, f.index, owner, rank_), shape, [i](Run& run, Tensor sum) { run.part_done(i, std::move(sum)); });
    }
  }
  void summed(size_t i, Result<Tensor> sum) {
    if (sum.ok()) part_done(i, std::move(sum).value());
    else fail(sum.status());
  }

  void gather() {
    const int n = size();
    if (p_.shape.num_elements() == 0) {  // nothing is sent
      auto empty = Tensor::allocate(p_.dtype, p_.shape);
      return empty.ok() ? succeed(std::move(empty).value()) : fail(empty.status());
    }
    expect_parts(size_t(n));
    for (int chunk = 0; chunk < n; ++chunk) {
      if (chunk == rank_) {
        pass_on(chunk, input_);
        continue;
      }
      recv((rank_ + n - 1) % n, key(0, chunk, (rank_ + n - 1) % n), input_.shape(),
           [chunk](Run& run, Tensor t) { run.pass_on(chunk, std::move(t)); });
    }
  }
  void pass_on(int chunk, Tensor t) {
    const int n = size();
    if (rank_ != (chunk + n - 1) % n) send((rank_ + 1) % n, key(0, chunk, rank_), t);
    part_done(size_t(chunk), std::move(t));
  }

  // One device of each task takes part in a tree over the tasks, then all devices of a task in one of theirs; those of one task need the second alone. In a tree the
  // member at place r sends to 2r+1 and 2r+2; a source at another place than 0 counts as if it also stood in front of all.
  void broadcast() {
    value_ = input_;
    std::vector<std::vector<int>> tasks;
    int source_task = 0;
    for (int i = 0; i < size(); ++i) {
      if (tasks.empty() || task(i) != task(tasks.back()[0])) tasks.emplace_back();
      tasks.back().push_back(i);
      if (i == source_) source_task = int(tasks.size()) - 1;
    }
    if (tasks.size() > 1) {
      std::vector<int> first;
      for (const auto& t : tasks) first.push_back(int(first.size()) == source_task ? source_ : t[0]);
      add_tree(0, std::move(first), source_task);
    }
    for (size_t t = 0; t < tasks.size(); ++t) {
      const auto at = std::find(tasks[t].begin(), tasks[t].end(), source_);
      const int source = at == tasks[t].end() ? 0 : int(at - tasks[t].begin());
      add_tree(int(t) + (tasks.size() > 1), std::move(tasks[t]), source);
    }
    next_tree(0);
  }
  void add_tree(int index, std::vector<int> members, int source) {
    const auto at = std::find(members.begin(), members.end(), rank_);
    if (at != members.end()) trees_.push_back({index, int(at - members.begin()), source, std::move(members)});
  }
  void next_tree(size_t i) {
    if (i == trees_.size()) return succeed(value_.reshaped(p_.shape));
    const Tree& t = trees_[i];
    if (t.place == t.source) return pass_down(i);
    const int above = t.source == 0 ? (t.place - 1) / 2 : t.place / 2 - 1, from = above < 0 ? t.source : above;
    recv(t.members[size_t(from)], key(t.index, from, t.place), p_.shape, [i](Run& run, Tensor received) {
      run.value_ = std::move(received);
      run.pass_down(i);
    });
  }
  void pass_down(size_t i) {
    const Tree& t = trees_[i];
    const int n = int(t.members.size());
    std::vector<int> to;
    if (rank_ == source_ && t.source != 0) {
      if (n > 1) to.push_back(0);
      if (n > 2 && t.source != 1) to.push_back(1);
    }
    const int below = t.source == 0 ? 2 * t.place + 1 : 2 * (t.place + 1);
    for (int place : {below, below + 1}) {
      if (place < n && place != t.source) to.push_back(place);
    }
    for (int place : to) send(t.members[size_t(place)], key(t.index, t.place, place), value_);
    next_tree(i + 1);
  }

  void all_to_all() {
    const int n = size();
    const int64_t rows = input_.rank() > 0 ? input_.dim(0) : 0;
    if (rows != n)
      return fail(invalid_argument("input to all-to-all first dimension size (", rows, ") must be the same as the group size (", n, ")"));
    expect_parts(size_t(n));
    for (int other = 0; other < n; ++other) {
      Tensor slice = input_.slice_rows(other, other + 1);
      const size_t to = size_t(members_->ranks[size_t(other)]);
      if (other == rank_) {
        part_done(to, std::move(slice));
        continue;
      }
      const Shape shape = slice.shape();
      send(other, pair_key(rank_, other), std::move(slice));
      recv(other, pair_key(other, rank_), shape, [to](Run& run, Tensor t) { run.part_done(to, std::move(t)); });
    }
  }

  const std::shared_ptr<CollectiveExecutor> e_;
  const CollectiveParams p_;
  const Tensor input_;
  Stop stop_;
  Done done_;
  const int64_t id_;
  std::atomic<bool> over_{false};
  std::atomic<int64_t> deadline_{0};
  std::shared_ptr<const CollectiveMembers> members_;
  int rank_ = 0, source_ = -1;
  Tensor flat_;
  std::vector<Field> fields_;
  std::vector<Tensor> parts_;
  std::atomic<int64_t> left_{0};
  struct Tree {
    int index, place, source;  // number in keys; this member's place and the source's
    std::vector<int> members;  // ranks of the group by place
  };
  std::vector<Tree> trees_;  // of a broadcast: those that this member is in
  Tensor value_;  // of a broadcast on its way; at the end the result
  std::atomic<int64_t> holds_{1};  // messages that were not taken yet, and the result
};

CollectiveExecutor::CollectiveExecutor(std::unique_ptr<CollectiveParamResolver> resolver, std::unique_ptr<CollectiveRemoteAccess> access)
    : resolver_(std::move(resolver)), access_(std::move(access)), deadlines_(std::make_unique<Deadlines>()) {}
CollectiveExecutor::~CollectiveExecutor() = default;

void CollectiveExecutor::run_async(CollectiveParams params, Tensor input, CancellationManager* cancellation, Done done) {
  std::make_shared<Run>(shared_from_this(), std::move(params), std::move(input), cancellation, std::move(done))->start();
}

void CollectiveExecutor::complete_group_async(const CollectiveGroup& group, double timeout_seconds, CancellationManager* cancellation,
                                              std::function<void(Status)> done) {
  struct Wait {
    explicit Wait(CancellationManager* caller) : stop(caller) {}
    // Whoever set over comes here.
    void end(Status s) {
      stop.leave();
      done(std::move(s));
    }
    std::atomic<bool> over{false};
    Stop stop;
    std::function<void(Status)> done;
    int64_t deadline = 0;
    std::shared_ptr<CollectiveExecutor> executor;
  };
  auto wait = std::make_shared<Wait>(cancellation);
  wait->done = std::move(done);
  wait->executor = shared_from_this();
  wait->stop.listen(std::shared_ptr<Stop>(wait, &wait->stop));
  if (timeout_seconds > 0) {
    wait->deadline = deadlines_->add(timeout_seconds, [weak = std::weak_ptr(wait)] {
      auto late = weak.lock();
      if (!late || late->over.exchange(true)) return;
      Status s = deadline_exceeded("Collective has timed out waiting for other workers.");
      late->executor->start_abort(s);
      late->end(std::move(s));
    });
  }
  resolver_->complete_group_async(group, wait->stop.manager(), [wait](Status s, const std::shared_ptr<const CollectiveMembers>&) {
    if (wait->over.exchange(true)) return;
    if (wait->deadline) wait->executor->deadlines_->remove(wait->deadline);
    wait->end(std::move(s));
  });
}

Status CollectiveExecutor::error_of(const Status& s) const {
  std::lock_guard lock(mutex_);
  return aborted_.ok() ? s : aborted_;
}

void CollectiveExecutor::start_abort(const Status& status) {
  Status s;
  {
    std::lock_guard lock(mutex_);
    if (!aborted_.ok()) return;
    aborted_ = s = Status(status.code(), cat("Collective ops is aborted by: ", status.message(),
                                             "\nThe error could be from a previous operation. Restart your program to reset."));
  }
  resolver_->start_abort(s);
  access_->start_abort(s);
}

std::shared_ptr<CollectiveExecutor> collective_executor(ResourceManager& resources) {
  return resources
      .find_or_create<CollectiveExecutor>(CollectiveExecutor::kContainer, CollectiveExecutor::kName,
                                          []() -> Result<std::shared_ptr<CollectiveExecutor>> { return make_local_collectives(); })
      .value();
}

}  // namespace weft_engine::op
