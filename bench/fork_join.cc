// What a parallel loop costs: microseconds from its call to its end, for loops of a given total work, by the number of threads.
//
//   g++ -std=c++20 -O2 -Isrc bench/fork_join.cc src/core/{thread_pool,threads,interrupt,status,cat,fork,loop_record}.cc -o fork_join -lpthread -ldl && ./fork_join
//
// "empty" is the price of handing work over; the others show from how much work on threads pay, and what a pause between loops does (workers sleep).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/thread_pool.h"

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

void busy(double us) {
  for (const auto end = Clock::now() + std::chrono::duration<double, std::micro>(us); Clock::now() < end;) {
  }
}

// The median of loops of `total_us` of work in as many chunks as threads, with `pause_us` between them.
double loop(weft_engine::core::ThreadPool& pool, int threads, double total_us, double pause_us) {
  std::vector<double> times;
  for (int i = 0; i < 400; ++i) {
    if (pause_us > 0) busy(pause_us);
    const auto start = Clock::now();
    pool.parallel_chunks(threads, [&](int64_t) { busy(total_us / threads); });
    times.push_back(microseconds(Clock::now() - start));
  }
  std::nth_element(times.begin(), times.begin() + 200, times.end());
  return times[200];
}

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : 16;
  std::printf("%8s %10s %10s %10s %10s %22s\n", "threads", "empty", "20 us", "100 us", "1000 us", "100 us after 500 us");
  for (int threads = 1; threads <= most; threads *= 2) {
    weft_engine::core::ThreadPool pool(threads);
    loop(pool, threads, 1, 0);
    std::printf("%8d %10.2f %10.2f %10.2f %10.2f %22.2f\n", threads, loop(pool, threads, 0, 0), loop(pool, threads, 20, 0),
                loop(pool, threads, 100, 0), loop(pool, threads, 1000, 0), loop(pool, threads, 100, 500));
  }
}
