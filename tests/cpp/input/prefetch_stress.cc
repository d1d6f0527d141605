// The threads of datasets, built alone under the thread sanitizer: ends, errors and early leaves at every place.
#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "api/data/prefetch.h"

using weft::data::Prefetcher;

namespace {

struct Item {
  int number = -1;
  std::unique_ptr<std::string> text;  // something that a race would break
};

int failures = 0;
void check(bool good, const char* what, int a, int b, int c) {
  if (good) return;
  ++failures;
  std::printf("%s: threads %d, capacity %d, case %d\n", what, a, b, c);
}

void round(int threads, int capacity, int items, int bad, int leave) {
  int at = 0;
  std::atomic<int> worked{0};
  {
    Prefetcher<Item> source(
        [&](Item& out) {
          if (at == items) return false;
          out = {at, std::make_unique<std::string>(std::to_string(at))};
          ++at;
          return true;
        },
        nullptr, 1, size_t(capacity));
    Prefetcher<Item> prefetch([&](Item& out) { return source.next(out); },
                              [&](Item& item) {
                                ++worked;
                                if (item.number == bad) throw std::runtime_error("bad");
                                *item.text += "!";
                              },
                              threads, size_t(capacity));
    int got = 0;
    bool threw = false;
    try {
      for (Item item; got != leave && prefetch.next(item); ++got)
        check(item.number == got && *item.text == std::to_string(got) + "!", "wrong item", threads, capacity, got);
    } catch (const std::runtime_error&) {
      threw = true;
    }
    const bool meets_bad = bad >= 0 && bad < items && (leave < 0 || bad < leave);
    check(threw == meets_bad, "error lost or made up", threads, capacity, bad);
    check(got == (meets_bad ? bad : leave < 0 ? items : std::min(leave, items)), "wrong count", threads, capacity, got);
    if (threw || leave < 0) {
      Item after;
      check(!prefetch.next(after), "more after the end", threads, capacity, got);
    }
  }
  const int after = worked;
  check(after == worked, "work after the end", threads, capacity, after);
}

}  // namespace

int main() {
  for (const int threads : {1, 2, 4}) {
    for (const int capacity : {1, 2, 7}) {
      for (const int items : {0, 1, 5, 30}) {
        for (const int bad : {-1, 0, 3, 29}) {
          for (const int leave : {-1, 0, 1, 4}) round(threads, capacity, items, bad, leave);
        }
      }
    }
  }
  std::puts(failures ? "failed" : "all in order");
  return failures != 0;
}
