// Changed copies of inputs: bits, bytes, numbers, cuts, pieces of two.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

inline std::string changed(std::string in, const std::vector<std::string>& all, std::mt19937_64& r) {
  for (int k = int(r() % 4); k >= 0; --k) {
    const size_t at = in.empty() ? 0 : r() % in.size();
    switch (r() % 8) {
      case 0:
        if (!in.empty()) in[at] = char(in[at] ^ (1 << r() % 8));
        break;
      case 1:
        if (!in.empty()) in[at] = char(r());
        break;
      case 2: in.resize(at); break;
      case 3: in.erase(at, 1 + r() % 16); break;
      case 4: in.insert(at, in.substr(r() % (at + 1), r() % 64)); break;
      case 5: in.insert(at, std::string(1 + r() % 9, char(r() % 2 ? 0xff : r()))); break;
      case 6: {
        const std::string& other = all[r() % all.size()];
        const size_t from = other.empty() ? 0 : r() % other.size();
        in.replace(at, r() % 64, other.substr(from, r() % 256));
        break;
      }
      default:
        if (in.size() > 8) std::swap(in[at], in[r() % in.size()]);
        break;
    }
  }
  return in;
}
