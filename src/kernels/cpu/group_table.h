// Numbers for distinct things, by their hashes: an open table that grows with what it holds, so that a few thousand stay in the cache whatever is looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft_engine::kernels {

// A word's hash: no two words have the same.
inline uint64_t hash_word(uint64_t h) {
  h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

class GroupTable {
 public:
  GroupTable() { clear(); }
  int64_t size() const { return size_; }
  void clear() {
    slots_.assign(16, {});
    size_ = 0;
  }

  // same(number) says whether the thing with that hash and number is the one that is meant.
  template <class Same>
  int64_t find(uint64_t hash, Same same) const {
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& s = slots_[at];
      if (s.number < 0) return -1;
      if (s.hash == hash && same(s.number)) return s.number;
    }
  }
  // The number of the thing: what it had, or the count of things before it.
  template <class Same>
  int64_t find_or_add(uint64_t hash, Same same) {
    size_t at = hash & mask();
    for (; slots_[at].number >= 0; at = (at + 1) & mask()) {
      if (slots_[at].hash == hash && same(slots_[at].number)) return slots_[at].number;
    }
    slots_[at] = {hash, size_};
    if (size_t(++size_) * 2 > slots_.size()) grow();
    return size_ - 1;
  }
  // Takes the thing out and gives its number to the one that has the last, whose hash is known.
  void remove(uint64_t hash, int64_t number, uint64_t last_hash) {
    size_t gap = slot_of(hash, number);
    for (size_t at = gap;;) {  // whatever a search would come to over the gap moves up
      at = (at + 1) & mask();
      if (slots_[at].number < 0) break;
      const size_t home = slots_[at].hash & mask();
      if (((at - home) & mask()) >= ((at - gap) & mask())) {
        slots_[gap] = slots_[at];
        gap = at;
      }
    }
    slots_[gap] = {};
    if (number != --size_) slots_[slot_of(last_hash, size_)].number = number;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    int64_t number = -1;
  };
  size_t mask() const { return slots_.size() - 1; }
  size_t slot_of(uint64_t hash, int64_t number) const {
    size_t at = hash & mask();
    while (slots_[at].number != number) at = (at + 1) & mask();
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 4);
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.number < 0) continue;
      size_t at = s.hash & mask();
      while (slots_[at].number >= 0) at = (at + 1) & mask();
      slots_[at] = s;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  int64_t size_ = 0;
};

}  // namespace weft_engine::kernels
