#include "runtime/placer.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>
#include <unordered_map>

#include "core/error_notes.h"
#include "core/own_memory.h"
#include "core/remote_device.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "op/placed_kernel.h"

namespace weft_engine::runtime {

using namespace weft_engine::op;  // NOLINT: refers to nodes and their types throughout
using graph::Node;

namespace {

// What the members of a group ask for together.
struct Group {
  DeviceName wanted;    // by nodes
  DeviceName resource;  // by what makes the resources that they use; stronger
  const Node* asker = nullptr;  // the first that names a device
  bool bound = false;   // to the memory of a device that a resource lives in already
  int size = 0;
  Device* device = nullptr;
};

bool has_functions(const Node& n) {
  if (n.is_function_call()) return true;
  for (const AttrSpec& a : n.spec().signature().attrs) {
    if (a.type == "func" || a.type == "list(func)") return true;
  }
  return false;
}

bool is_generator(const Node& n) { return !is_arg(n) && n.num_inputs() == 0 && n.num_outputs() == 1 && !is_ref_type(n.output_type(0)); }

// Tells of its input without reading it.
bool is_metadata(const Node& n) { return n.num_inputs() == 1 && n.spec().traits().shape_query != op::ShapeQuery::kNone; }

bool names_something(const DeviceName& n) { return n.job || n.replica || n.task || n.type || n.id; }

// Adds what `more` asks for. Which part contradicts, if any; with `soft` such a part is then left open.
template <class T>
void merge_part(std::optional<T>& part, const std::optional<T>& more, const char* name, bool soft, const char*& conflict) {
  if (!more) return;
  if (!part) {
    part = more;
  } else if (*part != *more) {
    conflict = name;
    if (soft) part.reset();
  }
}

const char* merge(DeviceName& into, const DeviceName& more, bool soft) {
  const char* conflict = nullptr;
  merge_part(into.job, more.job, "jobs", false, conflict);
  merge_part(into.replica, more.replica, "replicas", false, conflict);
  merge_part(into.task, more.task, "tasks", false, conflict);
  if (conflict) return conflict;
  const char* light = nullptr;
  merge_part(into.type, more.type, "types", soft, light);
  merge_part(into.id, more.id, "ids", soft, light);
  return soft ? nullptr : light;
}

class Placer {
 public:
  Placer(graph::FunctionBody& body, const PlaceOptions& o) : body_(body), o_(o), nodes_(body.graph->nodes()) {
    parent_.resize(size_t(body.graph->num_ids()));
    std::iota(parent_.begin(), parent_.end(), 0);
    default_ = o.default_device ? o.default_device : o.devices->host();
    mixed_ = o.registry && core::is_mixed(*o.devices);
    if (mixed_) priorities_ = core::by_priority(*o.devices);
  }

  Status place() {
    WEFT_RETURN_IF_ERROR(parse_names());
    group();
    WEFT_RETURN_IF_ERROR(collect());
    WEFT_RETURN_IF_ERROR(assign());
    keep_here();
    follow();
    return results();
  }

 private:
  Status parse_names() {
    names_.resize(parent_.size());
    for (Node* n : nodes_) {
      if (n->device.empty()) continue;
      auto name = DeviceName::parse(n->device);
      if (!name.ok())
        return core::names_node(invalid_argument("Malformed device specification '", n->device, "' in node: {{node ", n->name(), "}}"), n->name());
      names_[size_t(n->id())] = std::move(name).value();
    }
    for (size_t i = 0; i < o_.arg_devices.size() && i < body_.args.size(); ++i) {
      if (o_.arg_devices[i]) names_[size_t(body_.args[i]->id())] = o_.arg_devices[i]->parsed_name();
    }
    return {};
  }

  int find(int i) {
    while (parent_[size_t(i)] != i) i = parent_[size_t(i)] = parent_[size_t(parent_[size_t(i)])];
    return i;
  }
  // The smaller id stays the name of the group, so that messages refer to what comes first.
  void unite(const Node* a, const Node* b) {
    const int x = find(a->id()), y = find(b->id());
    parent_[size_t(std::max(x, y))] = std::min(x, y);
  }

  // Must the node be where this input is? It uses a resource or a variable in place.
  static bool stays_with(const Node& n, int i) {
    const graph::Endpoint& e = n.input(i);
    if (!e.node) return false;
    const DType given = e.node->output_type(e.index);
    // A function may use a resource of another device; what is in it is placed by itself.
    const bool resource = given == DType::kResource && !has_functions(n) && !has_functions(*e.node) && !is_retval(n);
    return resource || (is_ref_type(given) && is_ref_type(n.input_type(i)));
  }
  static bool uses_state(const Node& n) {
    for (int i = 0; i < n.num_inputs(); ++i) {
      if (stays_with(n, i)) return true;
    }
    return false;
  }

  void group() {
    std::unordered_map<std::string_view, Node*> classes;  // who first spoke of a name that no node has
    for (Node* n : nodes_) {
      if (const AttrValue* attr = n->find_attr("_class")) {
        if (const auto* list = attr->get<std::vector<std::string>>()) {
          for (const std::string& text : *list) {
            constexpr std::string_view kPrefix = "loc:@";
            if (!std::string_view(text).starts_with(kPrefix)) continue;
            const std::string_view name = std::string_view(text).substr(kPrefix.size());
            Node* with = body_.graph->find(name);
            if (!with) with = classes.try_emplace(name, n).first->second;
            unite(n, with);
          }
        }
      }
      for (int i = 0; i < n->num_inputs(); ++i) {
        if (stays_with(*n, i)) unite(n, n->input(i).node);
      }
    }
    groups_.resize(parent_.size());
    for (Node* n : nodes_) ++groups_[size_t(find(n->id()))].size;
  }

  // Of a resource, or a reference, and not handed through.
  static bool makes_resource(const Node& n) {
    bool out = false;
    for (int i = 0; i < n.num_outputs(); ++i) out |= n.output_type(i) == DType::kResource || is_ref_type(n.output_type(i));
    return out && n.num_inputs() == 0;
  }

  Status collect() {
    // What uses state goes where it is, whatever it asks for; where nobody says, the first that does is heard.
    std::vector<Node*> order, users;
    for (Node* n : nodes_) (uses_state(*n) && !makes_resource(*n) ? users : order).push_back(n);
    order.insert(order.end(), users.begin(), users.end());
    for (Node* n : order) {
      const DeviceName& name = names_[size_t(n->id())];
      if (!names_something(name)) continue;
      Group& g = groups_[size_t(find(n->id()))];
      const bool maker = g.size > 1 && makes_resource(*n);
      DeviceName& into = maker ? g.resource : g.wanted;
      const DeviceName before = into;
      if (!maker && uses_state(*n)) {
        DeviceName both = into;
        if (merge(both, name, false)) continue;
      }
      if (const char* conflict = merge(into, name, o_.allow_soft_placement && !maker)) {
        // What uses two resources may be with either: all of them are in the memory of this process.
        if (maker && o_.allow_soft_placement) {
          into = before;
          continue;
        }
        return core::names_node(invalid_argument("Cannot colocate nodes {{colocation_node ", n->name(), "}} and {{colocation_node ",
                                                 g.asker ? g.asker->name() : n->name(), "}}: Cannot merge devices with incompatible ", conflict,
                                                 ": '", name.to_string(), "' and '", before.to_string(), "'\n\t [[{{node ", n->name(), "}}]]"),
                                n->name());
      }
      if (!g.asker) g.asker = n;
      if (mixed_ && maker && is_arg(*n)) {
        const Device* there = o_.devices->find(name);
        g.bound |= there && !there->host_memory();
      }
    }
    return {};
  }

  Status no_kernel(const Node& n, const DeviceName& wanted) const {
    return invalid_argument("Cannot assign a device for operation ", n.name(), ": Could not satisfy explicit device specification '",
                            wanted.to_string(), "' because no supported kernel for ", wanted.type.value_or("CPU"), " devices is available.\n\t [[",
                            n.name(), "]]");
  }

  Status unknown(const Node& n, const DeviceName& wanted) const {
    std::vector<std::string> names;
    for (const auto& d : o_.devices->all()) names.push_back(d->name());
    return core::names_node(invalid_argument("Cannot assign a device for operation ", n.name(), ": {{node ", n.name(),
                                             "}} was explicitly assigned to ", wanted.to_string(), " but available devices are [ ", join(names, ", "),
                                             " ]. Make sure the device specification refers to a valid device.",
                                             wanted.type == "GPU" ? " The requested device appears to be a GPU, but CUDA is not enabled." : "",
                                             "\n\t [[", n.name(), "]]"),
                            n.name());
  }

  // Has the node a kernel there? What has none at all (arguments, results) is anywhere.
  bool runs_on(const Node& n, const Device& d) const {
    if (!mixed_ || n.spec().kernels.empty()) return true;
    if (n.is_function_call() && !o_.registry->find(n.op())) return d.host_memory();
    if (!d.host_memory() && op::wraps_tensors(n.spec())) return false;
    return op::has_kernel(*o_.registry, n.info(), d.type());
  }
  bool group_runs_on(int root, const Device& d) {
    if (!mixed_) return true;
    for (const Node* n : nodes_) {
      if (find(n->id()) == root && !runs_on(*n, d)) return false;
    }
    return true;
  }

  // The first that the name fits and that has kernels for the whole group.
  Device* matching(const DeviceName& name, int root) {
    if (!mixed_) return name.matches(default_->parsed_name()) ? default_ : o_.devices->find(name);
    std::vector<Device*> candidates;
    if (!o_.by_priority) candidates.push_back(default_);
    candidates.insert(candidates.end(), priorities_.begin(), priorities_.end());
    for (const auto& d : o_.devices->all()) candidates.push_back(d.get());
    for (Device* d : candidates) {
      if (name.matches(d->parsed_name()) && group_runs_on(root, *d)) return d;
    }
    return nullptr;
  }

  Status assign() {
    for (Node* n : nodes_) {
      Group& g = groups_[size_t(find(n->id()))];
      if (!g.device) {
        DeviceName name = g.resource.completed_by(g.wanted);
        const int root = find(n->id());
        g.device = matching(name, root);
        if (!g.device && o_.allow_soft_placement && !g.bound) {
          name.id.reset();
          g.device = matching(name, root);
          if (!g.device) {
            name.type.reset();
            g.device = mixed_ && o_.devices->find(g.resource.completed_by(g.wanted)) ? o_.devices->host() : matching(name, root);
          }
        }
        if (!g.device) {
          const DeviceName wanted = g.resource.completed_by(g.wanted);
          const Node& asker = g.asker ? *g.asker : *n;
          return o_.devices->find(wanted) ? no_kernel(asker, wanted) : unknown(asker, wanted);
        }
      }
      n->assigned_device = g.device->name();
      if (!follows(*n)) log(*n);
    }
    return {};
  }

  // What other tasks have a part in runs in this process, its functions in parts.
  void keep_here() {
    for (Node* n : nodes_) {
      if (!graph::is_call(*n) && !graph::is_branch(*n) && !graph::is_while(*n)) continue;
      const auto there =
          std::find_if(o_.devices->all().begin(), o_.devices->all().end(), [&](const auto& d) { return d->name() == n->assigned_device; });
      if (there == o_.devices->all().end() || !dynamic_cast<const core::RemoteDevice*>(there->get()) || !on_several_tasks(*body_.graph, *n)) continue;
      n->assigned_device = o_.devices->host()->name();
    }
  }

  bool free(const Node& n) { return !names_something(names_[size_t(n.id())]) && groups_[size_t(find(n.id()))].size == 1; }
  bool follows(const Node& n) { return is_retval(n) || (free(n) && (is_generator(n) || (is_metadata(n) && n.input(0).node))); }

  // Nodes that cost nothing are where that saves a message.
  void follow() {
    for (Node* n : nodes_) {
      if (is_retval(*n) || !follows(*n)) continue;
      auto can_go = [&](const std::string& name) {
        if (!mixed_) return true;
        for (const auto& d : o_.devices->all()) {
          if (d->name() == name) return runs_on(*n, *d);
        }
        return false;
      };
      if (is_metadata(*n)) {
        if (can_go(n->input(0).node->assigned_device)) n->assigned_device = n->input(0).node->assigned_device;
      } else {
        const std::string* there = nullptr;
        bool same = true;
        auto reader = [&](const Node* r) {
          if (!there) there = &r->assigned_device;
          else same &= *there == r->assigned_device;
        };
        for (const graph::Use& u : n->uses()) reader(u.node);
        for (const Node* c : n->control_outputs()) reader(c);
        if (there && same && can_go(*there)) n->assigned_device = std::string(*there);
      }
      log(*n);
    }
  }

  Status results() {
    for (size_t i = 0; i < body_.rets.size(); ++i) {
      Node* r = body_.rets[i];
      Device* device = nullptr;
      if (i < o_.output_devices.size() && !o_.output_devices[i].empty()) {
        WEFT_ASSIGN(device, o_.devices->resolve(o_.output_devices[i], o_.allow_soft_placement));
      }
      if (device) r->assigned_device = device->name();
      else if (r->input(0).node && r->device.empty()) r->assigned_device = r->input(0).node->assigned_device;
      log(*r);
    }
    return {};
  }

  void log(const Node& n) const {
    if (!o_.log) return;
    std::fprintf(stderr, "%s: (%.*s): %s\n", n.name().c_str(), int(n.op().size()), n.op().data(), n.assigned_device.c_str());
  }

  graph::FunctionBody& body_;
  const PlaceOptions& o_;
  const std::vector<Node*> nodes_;
  Device* default_;
  bool mixed_ = false;  // not all devices have all kernels
  std::vector<Device*> priorities_;
  std::vector<int> parent_;        // by id, as in a union-find forest
  std::vector<DeviceName> names_;  // by id: as asked for
  std::vector<Group> groups_;      // by id of the root
};

// The task that a device's name says, if it says one.
std::string task_in(const std::string& device) {
  const auto name = DeviceName::parse(device);
  return name.ok() && name->job && name->task ? cat(*name->job, ":", *name->task) : std::string();
}

// Whether a function has a node that asks to be in another task than this one.
bool asks_for_others(const graph::FunctionLibrary& library, const std::string& function, const std::string& task, std::set<std::string>& seen) {
  if (!seen.insert(function).second) return false;
  auto def = library.find(function);
  if (!def.ok()) return false;
  for (const graph::NodeDef& n : (*def)->nodes) {
    const std::string there = task_in(n.device);
    if (!there.empty() && there != task) return true;
    bool found = library.contains(n.op) && asks_for_others(library, n.op, task, seen);
    graph::for_functions(n.attrs, [&](const std::string& f) { found = found || asks_for_others(library, f, task, seen); });
    if (found) return true;
  }
  return false;
}

}  // namespace

bool on_several_tasks(const graph::Graph& g, const Node& n) {
  const auto task_of = [](const Node& m) { return task_in(m.assigned_device.empty() ? m.device : m.assigned_device); };
  const std::string task = task_of(n);
  for (int i = 0; i < n.num_inputs(); ++i) {
    if (n.input_type(i) != DType::kResource || !n.input(i).node) continue;
    const std::string there = task_of(*n.input(i).node);
    if (!there.empty() && there != task) return true;
  }
  const auto& library = g.library();
  if (!library) return false;
  bool found = n.is_function_call();
  std::set<std::string> seen;
  if (found) found = asks_for_others(*library, std::string(n.op()), task, seen);
  graph::for_functions(graph::attrs_of(n), [&](const std::string& f) { found = found || asks_for_others(*library, f, task, seen); });
  return found;
}

Status place(graph::FunctionBody& body, const PlaceOptions& options) { return Placer(body, options).place(); }

Device* single_device(const graph::FunctionBody& body, const DeviceSet& devices) {
  const std::string* one = nullptr;
  // Arguments and constants are there wherever they are needed.
  auto anywhere = [](const Node* n) { return is_arg(*n) || (is_const(*n) && n->control_inputs().empty()); };
  for (const Node* n : body.graph->nodes()) {
    if (anywhere(n) || (is_retval(*n) && n->input(0).node && anywhere(n->input(0).node))) continue;
    if (one && *one != n->assigned_device) return nullptr;
    one = &n->assigned_device;
  }
  if (!one || one->empty()) return devices.host();
  for (const auto& d : devices.all()) {
    if (d->name() == *one) return d.get();
  }
  return nullptr;
}

Device* device_to_compile_for(const graph::FunctionBody& body, const DeviceSet& devices) {
  Device* found = nullptr;
  for (const auto& d : devices.all()) {
    if (d->host_memory()) continue;
    for (const Node* n : body.graph->nodes()) {
      if (n->assigned_device != d->name()) continue;
      if (found) return nullptr;
      found = d.get();
      break;
    }
  }
  if (!found) return nullptr;
  for (const Node* n : body.graph->nodes()) {
    if (n->device.empty()) continue;
    const auto asked = DeviceName::parse(n->device);
    if (!asked.ok() || devices.find(*asked) != found) return nullptr;
  }
  return found;
}

}  // namespace weft_engine::runtime
