#include "cli/picture.h"

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <unordered_map>

namespace weft::cli {
namespace {

constexpr size_t kMaxText = 44;  // characters of a name

// Long names keep their end, which tells most.
std::string shortened(const std::string& s) { return s.size() <= kMaxText ? s : "..." + s.substr(s.size() - kMaxText + 3); }

std::string edge_label(const NodeInfo& n, size_t output) {
  if (output >= n.types.size()) return {};
  std::string out = to_string(n.types[output]);
  if (output < n.shapes.size() && n.shapes[output].known_rank && n.types[output] != DType::resource) out += " " + to_string(n.shapes[output]);
  return out;
}

// "node", "node:1", "^node".
struct Input {
  std::string node;
  size_t output = 0;
  bool control = false;
};
Input parse(const std::string& text) {
  if (text.starts_with("^")) return {text.substr(1), 0, true};
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, 0, false};
  return {text.substr(0, colon), size_t(std::atoi(text.c_str() + colon + 1)), false};
}

// Scopes of names, "a/b/c", with the nodes in them.
struct Scope {
  std::string path;
  std::map<std::string, std::unique_ptr<Scope>> scopes;
  std::vector<int> nodes;  // directly inside
  int total = 0;
};

class Maker {
 public:
  Maker(const FindFunction& find, const PictureOptions& options) : find_(find), options_(options), budget_(6 * options.limit) {}

  Picture make(const std::string& title, const std::vector<NodeInfo>& nodes, int depth, std::vector<std::string>& inside) {
    Picture p;
    p.title = title;
    std::unordered_map<std::string, int> by_name;
    for (size_t i = 0; i < nodes.size(); ++i) by_name.emplace(nodes[i].name, int(i));
    // Constants are told where they are read; one that nobody reads stays a node.
    std::vector<char> read(nodes.size(), 0);
    for (const auto& n : nodes) {
      for (const auto& in : n.inputs) {
        if (auto it = by_name.find(parse(in).node); it != by_name.end() && !in.starts_with("^")) read[size_t(it->second)] = 1;
      }
    }
    const auto folded = [&](int i) { return nodes[size_t(i)].kind == NodeKind::constant && read[size_t(i)]; };
    std::vector<int> shown;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!folded(int(i))) shown.push_back(int(i));
    }
    std::vector<int> box_of(nodes.size(), -1);
    collapse(nodes, shown, p, box_of);
    budget_ -= int(p.boxes.size());
    for (const int i : shown) {
      Box& b = p.boxes[size_t(box_of[size_t(i)])];
      if (b.kind != Box::Kind::kGroup) fill(b, nodes[size_t(i)], nodes, by_name, folded, depth, inside);
    }
    connect(nodes, by_name, box_of, p);
    return p;
  }

 private:
  // Which boxes there are: every node, or, where those are too many, scopes opened from the largest on as long as they fit.
  void collapse(const std::vector<NodeInfo>& nodes, const std::vector<int>& shown, Picture& p, std::vector<int>& box_of) {
    Scope root;
    for (const int i : shown) {
      const std::string& name = nodes[size_t(i)].name;
      Scope* s = &root;
      ++s->total;
      for (size_t from = 0, slash; (slash = name.find('/', from)) != std::string::npos; from = slash + 1) {
        auto& next = s->scopes[name.substr(from, slash - from)];
        if (!next) next = std::make_unique<Scope>(), next->path = name.substr(0, slash);
        s = next.get();
        ++s->total;
      }
      s->nodes.push_back(i);
    }
    std::vector<const Scope*> closed;
    const auto open = [&](const Scope* s) {
      for (const int i : s->nodes) {
        box_of[size_t(i)] = int(p.boxes.size());
        p.boxes.emplace_back();
      }
    };
    const auto smaller = [](const Scope* a, const Scope* b) { return a->total < b->total; };
    std::priority_queue<const Scope*, std::vector<const Scope*>, decltype(smaller)> waiting(smaller);
    int visible = 1;
    waiting.push(&root);
    while (!waiting.empty()) {
      const Scope* s = waiting.top();
      waiting.pop();
      const int more = int(s->nodes.size() + s->scopes.size()) - 1;
      if (s->total == 1 || s == &root || int(shown.size()) <= options_.limit || visible + more <= options_.limit) {
        visible += more;
        open(s);
        for (const auto& [name, inner] : s->scopes) waiting.push(inner.get());
      } else {
        closed.push_back(s);
      }
    }
    for (const Scope* s : closed) {
      const int box = int(p.boxes.size());
      Box& b = p.boxes.emplace_back();
      b.kind = Box::Kind::kGroup;
      b.title = shortened(s->path);
      b.lines.push_back(std::to_string(s->total) + " nodes");
      std::map<std::string, int> ops;
      mark(*s, box, nodes, box_of, ops);
      for (const auto& [op, n] : ops) b.tooltip += op + " x" + std::to_string(n) + "\n";
      std::set<std::string> devices;
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (box_of[i] == box) devices.insert(nodes[i].device);
      }
      if (devices.size() == 1) b.device = *devices.begin();
    }
  }

  static void mark(const Scope& s, int box, const std::vector<NodeInfo>& nodes, std::vector<int>& box_of, std::map<std::string, int>& ops) {
    for (const int i : s.nodes) {
      box_of[size_t(i)] = box;
      ++ops[nodes[size_t(i)].op];
    }
    for (const auto& [name, inner] : s.scopes) mark(*inner, box, nodes, box_of, ops);
  }

  template <class Folded>
  void fill(Box& b, const NodeInfo& n, const std::vector<NodeInfo>& nodes, const std::unordered_map<std::string, int>& by_name, const Folded& folded,
            int depth, std::vector<std::string>& inside) {
    b.title = n.op;
    if (n.kind == NodeKind::argument || n.kind == NodeKind::placeholder) b.kind = Box::Kind::kInput, b.title = "input";
    if (n.kind == NodeKind::result) b.kind = Box::Kind::kOutput, b.title = "output";
    if (n.kind == NodeKind::variable) b.kind = Box::Kind::kVariable, b.title = "variable";
    const auto label = depth == 0 ? options_.labels.find(n.name) : options_.labels.end();
    b.lines.push_back(shortened(label == options_.labels.end() ? n.name : label->second));
    b.device = n.device;
    b.tooltip = n.name + "\n" + n.op + (n.device.empty() ? "" : "\n" + n.device);
    for (const auto& [key, value] : n.attrs) b.tooltip += "\n" + key + " = " + value.substr(0, 200);
    for (size_t i = 0; i < n.types.size(); ++i) b.tooltip += "\noutput " + std::to_string(i) + ": " + edge_label(n, i);
    for (size_t i = 0; i < n.inputs.size() && b.lines.size() < 6; ++i) {
      const Input in = parse(n.inputs[i]);
      auto it = by_name.find(in.node);
      if (in.control || it == by_name.end() || !folded(it->second)) continue;
      const NodeInfo& c = nodes[size_t(it->second)];
      std::string text = "#" + std::to_string(i) + " const ";
      for (const auto& [key, value] : c.attrs) {
        if (key == "value") text += value;
      }
      b.lines.push_back(text.size() <= kMaxText ? text : text.substr(0, kMaxText - 3) + "...");
    }
    for (const auto& f : n.functions) {
      std::string role;
      for (const auto& [key, value] : n.attrs) {
        if (value.find(f) != std::string::npos && key != "_class") role = key;
      }
      const std::string title = (role.empty() || role == "f" ? "" : role + ": ") + shortened(f);
      if (depth >= options_.depth || budget_ <= 0 || std::find(inside.begin(), inside.end(), f) != inside.end()) {
        b.lines.push_back("calls " + title);
        continue;
      }
      try {
        const FunctionBody body = find_(f);
        inside.push_back(f);
        b.inner.push_back(make(title, body.nodes, depth + 1, inside));
        inside.pop_back();
      } catch (const Error&) {
        b.lines.push_back("calls " + title);
      }
    }
  }

  void connect(const std::vector<NodeInfo>& nodes, const std::unordered_map<std::string, int>& by_name, const std::vector<int>& box_of, Picture& p) {
    struct Bundle {
      std::set<std::string> labels;
      std::set<std::string> tensors;
    };
    std::map<std::pair<int, int>, Bundle> data;
    std::set<std::pair<int, int>> control;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const int to = box_of[i];
      if (to < 0) continue;
      for (const auto& text : nodes[i].inputs) {
        const Input in = parse(text);
        auto it = by_name.find(in.node);
        if (it == by_name.end()) continue;
        const int from = box_of[size_t(it->second)];
        if (from < 0 || from == to) continue;
        if (in.control) {
          control.emplace(from, to);
          continue;
        }
        Bundle& b = data[{from, to}];
        b.labels.insert(edge_label(nodes[size_t(it->second)], in.output));
        b.tensors.insert(text);
      }
    }
    for (const auto& [ends, b] : data) {
      std::string label = b.labels.size() == 1 ? *b.labels.begin() : "";
      if (b.tensors.size() > 1) label = std::to_string(b.tensors.size()) + " tensors" + (label.empty() ? "" : " " + label);
      p.wires.push_back({ends.first, ends.second, label, false, {}});
    }
    for (const auto& ends : control) {
      if (!data.count(ends)) p.wires.push_back({ends.first, ends.second, "", true, {}});
    }
  }

  const FindFunction& find_;
  const PictureOptions options_;
  int budget_;  // boxes that may still be drawn inside others
};

}  // namespace

Picture make_picture(const std::string& title, const std::vector<NodeInfo>& nodes, const FindFunction& find, const PictureOptions& options) {
  std::vector<std::string> inside;
  return Maker(find, options).make(title, nodes, 0, inside);
}

}  // namespace weft::cli
