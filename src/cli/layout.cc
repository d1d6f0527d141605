// Layered drawing after Sugiyama: break cycles, put every box on a layer below what it reads, order the layers so that
// few wires cross, and move boxes towards the middle of their neighbours.
#include <algorithm>
#include <numeric>

#include "cli/picture.h"

namespace weft::cli {
namespace {

constexpr double kGapX = 18, kGapY = 46, kTitle = 20;
constexpr int kSweeps = 14, kPulls = 10;
constexpr size_t kMaxBends = 20000;  // beyond it long wires go straight

// A box, or the place where a long wire passes a layer.
struct Cell {
  int box = -1;
  int layer = 0;
  double w = 0, x = 0;  // x: of the middle
  std::vector<int> up, down;
};

struct Edge {
  int wire, from, to;  // from above, to below: reversed where the wire closes a cycle
  bool reversed;
  std::vector<int> bends;
};

class Layout {
 public:
  explicit Layout(Picture& p) : p_(p) {}

  void run() {
    measure();
    if (p_.boxes.empty()) {
      p_.w = p_.h = 2 * kPadding;
      return;
    }
    break_cycles();
    assign_layers();
    add_bends();
    order_layers();
    place_x();
    place_y();
    route();
  }

 private:
  void measure() {
    for (Box& b : p_.boxes) {
      size_t longest = b.title.size();
      for (const auto& l : b.lines) longest = std::max(longest, l.size());
      b.w = std::max(60.0, double(longest) * kCharWidth + 2 * kPadding);
      b.h = double(1 + b.lines.size()) * kLineHeight + kPadding;
      double inner_w = 0, inner_h = 0;
      for (Picture& i : b.inner) {
        lay_out(i);
        const double w = std::max(i.w, double(i.title.size()) * kCharWidth + 2 * kPadding);
        i.w = w;
        inner_w += w + kPadding;
        inner_h = std::max(inner_h, i.h + kTitle);
      }
      if (!b.inner.empty()) {
        b.w = std::max(b.w, inner_w + kPadding);
        b.h += inner_h + kPadding;
      }
    }
  }

  void break_cycles() {
    const size_t n = p_.boxes.size();
    std::vector<std::vector<int>> out(n);
    for (size_t w = 0; w < p_.wires.size(); ++w) out[size_t(p_.wires[w].from)].push_back(int(w));
    std::vector<int> state(n, 0), at(n, 0);
    std::vector<char> reversed(p_.wires.size(), 0);
    for (size_t root = 0; root < n; ++root) {
      std::vector<int> stack;
      if (!state[root]) stack.push_back(int(root)), state[root] = 1;
      while (!stack.empty()) {
        const auto v = size_t(stack.back());
        if (size_t(at[v]) == out[v].size()) {
          state[v] = 2;
          stack.pop_back();
          continue;
        }
        const int w = out[v][size_t(at[v]++)];
        const auto to = size_t(p_.wires[size_t(w)].to);
        if (state[to] == 1) reversed[size_t(w)] = 1;
        else if (state[to] == 0) state[to] = 1, stack.push_back(int(to));
      }
    }
    for (size_t w = 0; w < p_.wires.size(); ++w) {
      Edge e{int(w), p_.wires[w].from, p_.wires[w].to, reversed[w] != 0, {}};
      if (e.reversed) std::swap(e.from, e.to);
      edges_.push_back(std::move(e));
    }
  }

  void assign_layers() {
    const size_t n = p_.boxes.size();
    cells_.resize(n);
    std::vector<int> waiting(n, 0);
    std::vector<std::vector<int>> below(n), above(n);
    for (const Edge& e : edges_) {
      below[size_t(e.from)].push_back(e.to);
      above[size_t(e.to)].push_back(e.from);
      ++waiting[size_t(e.to)];
    }
    std::vector<int> ready, order;
    for (size_t i = 0; i < n; ++i) {
      cells_[i].box = int(i);
      cells_[i].w = p_.boxes[i].w;
      if (!waiting[i]) ready.push_back(int(i));
    }
    while (!ready.empty()) {
      const int v = ready.back();
      ready.pop_back();
      order.push_back(v);
      for (const int t : below[size_t(v)]) {
        cells_[size_t(t)].layer = std::max(cells_[size_t(t)].layer, cells_[size_t(v)].layer + 1);
        if (--waiting[size_t(t)] == 0) ready.push_back(t);
      }
    }
    // What starts a chain late is right above its reader, not at the top of the page.
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const auto v = size_t(*it);
      if (!above[v].empty() || below[v].empty()) continue;
      int nearest = 1 << 30;
      for (const int t : below[v]) nearest = std::min(nearest, cells_[size_t(t)].layer);
      cells_[v].layer = nearest - 1;
    }
  }

  void add_bends() {
    size_t bends = 0;
    for (const Edge& e : edges_) bends += size_t(std::max(0, cells_[size_t(e.to)].layer - cells_[size_t(e.from)].layer - 1));
    const bool bend = bends <= kMaxBends;
    for (Edge& e : edges_) {
      int last = e.from;
      const int first_layer = cells_[size_t(e.from)].layer + 1, end = cells_[size_t(e.to)].layer;
      for (int l = first_layer; bend && l < end; ++l) {
        Cell c;
        c.layer = l;
        c.w = 4;
        const int id = int(cells_.size());
        cells_.push_back(std::move(c));
        link(last, id);
        e.bends.push_back(id);
        last = id;
      }
      link(last, e.to);
    }
    int deepest = 0;
    for (const Cell& c : cells_) deepest = std::max(deepest, c.layer);
    layers_.resize(size_t(deepest) + 1);
    for (size_t i = 0; i < cells_.size(); ++i) layers_[size_t(cells_[i].layer)].push_back(int(i));
  }

  void link(int a, int b) {
    cells_[size_t(a)].down.push_back(b);
    cells_[size_t(b)].up.push_back(a);
  }

  int64_t crossings() const {
    int64_t total = 0;
    std::vector<int> place(cells_.size());
    for (const auto& l : layers_) {
      for (size_t i = 0; i < l.size(); ++i) place[size_t(l[i])] = int(i);
    }
    for (size_t l = 0; l + 1 < layers_.size(); ++l) {
      std::vector<int> ends;  // places below, in the order of the places above
      for (const int c : layers_[l]) {
        std::vector<int> mine;
        for (const int d : cells_[size_t(c)].down) mine.push_back(place[size_t(d)]);
        std::sort(mine.begin(), mine.end());
        ends.insert(ends.end(), mine.begin(), mine.end());
      }
      // Inversions, counted in a tree of sums.
      std::vector<int> tree(layers_[l + 1].size() + 2, 0);
      int64_t seen = 0;
      for (const int e : ends) {
        int64_t not_greater = 0;
        for (int i = e + 1; i > 0; i -= i & -i) not_greater += tree[size_t(i)];
        total += seen - not_greater;
        for (int i = e + 1; i < int(tree.size()); i += i & -i) ++tree[size_t(i)];
        ++seen;
      }
    }
    return total;
  }

  void order_layers() {
    auto best = layers_;
    int64_t least = crossings();
    std::vector<double> place(cells_.size());
    const auto number = [&](const std::vector<int>& l) {
      for (size_t i = 0; i < l.size(); ++i) place[size_t(l[i])] = double(i);
    };
    for (const auto& l : layers_) number(l);
    for (int sweep = 0; sweep < kSweeps && least > 0; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t k = 1; k < layers_.size(); ++k) {
        auto& l = layers_[down ? k : layers_.size() - 1 - k];
        std::vector<std::pair<double, int>> keyed;
        for (const int c : l) {
          const auto& neighbours = down ? cells_[size_t(c)].up : cells_[size_t(c)].down;
          double sum = 0;
          for (const int m : neighbours) sum += place[size_t(m)];
          keyed.emplace_back(neighbours.empty() ? place[size_t(c)] : sum / double(neighbours.size()), c);
        }
        std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (size_t i = 0; i < l.size(); ++i) l[i] = keyed[i].second;
        number(l);
      }
      if (const int64_t now = crossings(); now < least) {
        least = now;
        best = layers_;
      }
    }
    layers_ = best;
  }

  // The places nearest to the wanted ones, in the sense of least squares, that keep order and distance: neighbours that
  // would overlap are pooled and move together.
  void settle(const std::vector<int>& layer, const std::vector<double>& wanted) {
    struct Block {
      double sum;
      int count;
      double at() const { return sum / count; }
    };
    std::vector<double> offset(layer.size(), 0);
    for (size_t i = 1; i < layer.size(); ++i) {
      const Cell &a = cells_[size_t(layer[i - 1])], &b = cells_[size_t(layer[i])];
      offset[i] = offset[i - 1] + (a.w + b.w) / 2 + kGapX;
    }
    std::vector<Block> blocks;
    for (size_t i = 0; i < layer.size(); ++i) {
      blocks.push_back({wanted[i] - offset[i], 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].at() > blocks.back().at()) {
        blocks[blocks.size() - 2].sum += blocks.back().sum;
        blocks[blocks.size() - 2].count += blocks.back().count;
        blocks.pop_back();
      }
    }
    size_t i = 0;
    for (const Block& b : blocks) {
      for (int k = 0; k < b.count; ++k, ++i) cells_[size_t(layer[i])].x = b.at() + offset[i];
    }
  }

  void place_x() {
    for (const auto& l : layers_) settle(l, std::vector<double>(l.size(), 0));
    for (int pull = 0; pull < kPulls; ++pull) {
      const bool down = pull % 2 == 0;
      for (size_t k = 0; k < layers_.size(); ++k) {
        const auto& l = layers_[down ? k : layers_.size() - 1 - k];
        std::vector<double> wanted;
        for (const int id : l) {
          const Cell& c = cells_[size_t(id)];
          // The last round looks both ways.
          const bool both = pull + 2 >= kPulls;
          double sum = 0;
          int n = 0;
          if (down || both) {
            for (const int m : c.up) sum += cells_[size_t(m)].x, ++n;
          }
          if (!down || both) {
            for (const int m : c.down) sum += cells_[size_t(m)].x, ++n;
          }
          wanted.push_back(n ? sum / n : c.x);
        }
        settle(l, wanted);
      }
    }
    double left = 1e300, right = -1e300;
    for (const Cell& c : cells_) {
      left = std::min(left, c.x - c.w / 2);
      right = std::max(right, c.x + c.w / 2);
    }
    for (Cell& c : cells_) c.x += kPadding - left;
    p_.w = right - left + 2 * kPadding;
  }

  void place_y() {
    double y = kPadding;
    top_.resize(layers_.size());
    bottom_.resize(layers_.size());
    for (size_t l = 0; l < layers_.size(); ++l) {
      double tallest = 0;
      for (const int id : layers_[l]) {
        if (const int b = cells_[size_t(id)].box; b >= 0) tallest = std::max(tallest, p_.boxes[size_t(b)].h);
      }
      for (const int id : layers_[l]) {
        const Cell& c = cells_[size_t(id)];
        if (c.box < 0) continue;
        Box& b = p_.boxes[size_t(c.box)];
        b.x = c.x - b.w / 2;
        b.y = y + (tallest - b.h) / 2;
      }
      top_[l] = y;
      bottom_[l] = y + tallest;
      y += tallest + kGapY;
    }
    p_.h = y - kGapY + kPadding;
  }

  void route() {
    // Ends are spread over a box's edge in the order of the other ends.
    std::vector<std::vector<std::pair<double, int>>> leaving(p_.boxes.size()), entering(p_.boxes.size());
    for (size_t i = 0; i < edges_.size(); ++i) {
      const Edge& e = edges_[i];
      const int next = e.bends.empty() ? e.to : e.bends.front(), last = e.bends.empty() ? e.from : e.bends.back();
      leaving[size_t(e.from)].emplace_back(cells_[size_t(next)].x, int(i));
      entering[size_t(e.to)].emplace_back(cells_[size_t(last)].x, int(i));
    }
    std::vector<double> start(edges_.size()), end(edges_.size());
    const auto spread = [&](std::vector<std::vector<std::pair<double, int>>>& sides, std::vector<double>& out) {
      for (size_t b = 0; b < sides.size(); ++b) {
        auto& s = sides[b];
        std::sort(s.begin(), s.end());
        const double room = std::min(p_.boxes[b].w - 16, 24.0 * double(s.size()));
        for (size_t i = 0; i < s.size(); ++i) out[size_t(s[i].second)] = cells_[b].x + room * ((double(i) + 1) / (double(s.size()) + 1) - 0.5);
      }
    };
    spread(leaving, start);
    spread(entering, end);
    for (size_t i = 0; i < edges_.size(); ++i) {
      const Edge& e = edges_[i];
      Wire& w = p_.wires[size_t(e.wire)];
      const Box &a = p_.boxes[size_t(e.from)], &b = p_.boxes[size_t(e.to)];
      w.points.push_back({start[i], a.y + a.h});
      for (const int id : e.bends) {
        // Straight down beside what is tall.
        const auto layer = size_t(cells_[size_t(id)].layer);
        const double x = cells_[size_t(id)].x;
        if (bottom_[layer] - top_[layer] < 80) {
          w.points.push_back({x, (top_[layer] + bottom_[layer]) / 2});
        } else {
          w.points.push_back({x, top_[layer]});
          w.points.push_back({x, bottom_[layer]});
        }
      }
      w.points.push_back({end[i], b.y});
      if (e.reversed) std::reverse(w.points.begin(), w.points.end());
    }
  }

  Picture& p_;
  std::vector<Edge> edges_;
  std::vector<Cell> cells_;
  std::vector<std::vector<int>> layers_;
  std::vector<double> top_, bottom_;  // of the layers
};

}  // namespace

void lay_out(Picture& picture) { Layout(picture).run(); }

}  // namespace weft::cli
