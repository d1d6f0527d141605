#include "jit/background.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "compiler/codegen.h"
#include "core/fork.h"
#include "core/log.h"
#include "core/threads.h"

namespace weft_engine::jit {
namespace {

constexpr size_t kMostQueued = 256, kMostKept = 512;
constexpr size_t kMostBytes = 256 << 20;  // of code and its working memory
// What others leave: with more of a busy processor, loops over all of them waited for it.
constexpr int kNice = 19;
// A compiler that is told to stop does so between two passes; its code generator is one of them.
constexpr auto kEndOfProcess = std::chrono::seconds(5);

thread_local bool t_compiling = false;  // of the background thread

}  // namespace

int64_t HotCode::now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return int64_t(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000;
}

Background& Background::get() {
  static Background& one = *new Background;
  return one;
}

bool Background::start_thread() {
  const int generation = core::fork_generation();
  if (generation_ == generation) return true;
  // The child of a process that was just compiling: LLVM may have been in the middle of something.
  refused_ |= busy_ || loading_;
  if (refused_) return false;
  if (generation_ >= 0) queue_.clear();  // what the parent's thread was to do
  if (generation_ < 0) wait_at_end_of_process();
  loading_ = true;
  if (!core::start_thread([this] { work(); }).ok()) {
    loading_ = false;
    return false;
  }
  generation_ = generation;
  return true;
}

void Background::wait_at_end_of_process() {
  std::atexit([] { get().end_of_process(); });
}

bool Background::add(std::weak_ptr<HotCode> what) {
  std::lock_guard lock(mutex_);
  if (give_up_.load() || core::process_ending.load() || queue_.size() >= kMostQueued || !start_thread()) return false;
  queue_.push_back(std::move(what));
  changed_.notify_all();
  return true;
}

void Background::work() {
  t_compiling = true;
  const auto api = compiler::codegen();  // at full priority: a process that ends waits for it
  setpriority(PRIO_PROCESS, 0, kNice);  // of this thread and those that it starts
  const bool must_stop = api.ok() && (*api)->destroyed_at_exit;
  if (must_stop) wait_at_end_of_process();  // a second time: it has to run before the destructors that LLVM registered just now
  if (!api.ok()) core::log(core::LogLevel::kInfo, core::cat("functions are not compiled: ", api.status().message()));
  std::unique_lock lock(mutex_);
  if (!api.ok()) {
    refused_ = true;
    queue_.clear();
  }
  must_stop_ = must_stop;
  loading_ = false;
  changed_.notify_all();
  for (;;) {
    changed_.wait(lock, [this] { return !queue_.empty() && !give_up_.load(); });
    auto next = queue_.front().lock();
    queue_.pop_front();
    if (!next) continue;
    busy_ = true;
    lock.unlock();
    (void)core::without_exceptions([&]() -> core::Status {
      next->compile(give_up_);
      return {};
    });
    next.reset();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void Background::keep(const std::shared_ptr<HotCode>& what) {
  std::vector<std::shared_ptr<HotCode>> all, dropped;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(kept_, [](const auto& k) { return k.expired(); });
    kept_.push_back(what);
    size_t bytes = 0;
    for (const auto& k : kept_) {
      if (auto one = k.lock()) bytes += one->bytes(), all.push_back(std::move(one));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->last_use.load() < b->last_use.load(); });
    size_t count = all.size();
    for (const auto& one : all) {
      if ((count <= kMostKept && bytes <= kMostBytes) || one == what) break;
      --count, bytes -= one->bytes();
      dropped.push_back(one);
    }
    std::erase_if(kept_, [&](const auto& k) { return std::find(dropped.begin(), dropped.end(), k.lock()) != dropped.end(); });
  }
  for (const auto& one : dropped) one->drop();
}

void Background::wait_until_idle() {
  if (t_compiling) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return (queue_.empty() && !busy_ && !loading_) || refused_ || generation_ != core::fork_generation(); });
}

void Background::end_of_process() {
  std::unique_lock lock(mutex_);
  give_up_.store(true);
  if (generation_ != core::fork_generation()) return;  // the thread is the parent's
  changed_.wait_for(lock, kEndOfProcess, [this] { return !loading_ && !(busy_ && must_stop_); });
}

}  // namespace weft_engine::jit
