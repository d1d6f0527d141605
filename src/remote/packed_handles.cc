#include "remote/packed_handles.h"

#include <algorithm>
#include <functional>
#include <set>

#include "core/device_name.h"
#include "op/op_traits.h"

namespace weft_engine::remote {
namespace {

using Devices = std::vector<std::string>;
using Expanded = PackedHandles::Expanded;

std::string full_name(const std::string& device, const std::string& defaults) {
  if (device.empty()) return defaults;
  auto name = DeviceName::parse(device), rest = DeviceName::parse(defaults);
  return name.ok() && rest.ok() ? name->completed_by(*rest).to_string() : device;
}

// Which of the tensors a node on the device takes: its own, or, as with TensorFlow, the first one where there is none.
size_t part_of(const Devices& parts, const std::string& device) {
  const auto at = std::find(parts.begin(), parts.end(), device);
  return at == parts.end() ? 0 : size_t(at - parts.begin());
}

// Makes functions that have an argument for each tensor of a packed one that they use.
class Expander {
 public:
  Expander(graph::FunctionLibrary& library, std::map<std::string, Expanded>& made, int64_t& next) : library_(library), made_(made), next_(next) {}

  // `packed`: devices by argument; `device`: where the function runs.
  Result<Expanded> expand(const std::string& function, const std::map<size_t, Devices>& packed, const std::string& device) {
    std::string key = cat(function, ";", device);
    for (const auto& [arg, devices] : packed) {
      key += cat(";", arg);
      for (const std::string& d : devices) key += cat(",", d);
    }
    if (const auto known = made_.find(key); known != made_.end() && library_.contains(known->second.name)) return known->second;
    constexpr int kDeepest = 64;
    if (depth_ == kDeepest) return unimplemented("packed handles as inputs of functions that call themselves, as ", function, " does");
    ++depth_;
    auto out = make(function, packed, device);
    --depth_;
    WEFT_RETURN_IF_ERROR(out.status());
    constexpr size_t kMany = 256;
    if (made_.size() >= kMany) std::erase_if(made_, [&](const auto& m) { return !library_.contains(m.second.name); });
    return made_[key] = std::move(out).value();
  }

 private:
  // A packed argument while its function is rewritten.
  struct Arg {
    size_t index;
    const Devices* devices;
    std::vector<std::string> names;  // of the arguments that it becomes, by device
    std::set<size_t> used;
    std::string use(size_t part) {
      used.insert(part);
      return names[part];
    }
  };
  using Args = std::map<std::string, Arg>;

  Result<Expanded> make(const std::string& function, const std::map<size_t, Devices>& packed, const std::string& device) {
    WEFT_ASSIGN(const std::shared_ptr<const graph::FunctionDef> from, library_.find(function));
    graph::FunctionDef def = *from;
    std::set<std::string> taken;
    for (const auto& a : from->inputs) taken.insert(a.name);
    for (const auto& n : from->nodes) taken.insert(n.name);
    Args args;
    for (const auto& [i, devices] : packed) {
      if (i >= from->inputs.size()) return invalid_argument("function ", function, " has ", from->inputs.size(), " arguments");
      const graph::ArgDef& arg = from->inputs[i];
      if (!arg.number_attr.empty() || !arg.type_list_attr.empty())
        return unimplemented("a packed handle for argument ", arg.name, " of function ", function, ", which is a list");
      Arg& made = args[arg.name];
      made = {i, &devices, {arg.name}, {}};
      for (size_t k = 1; k < devices.size(); ++k) {
        std::string name = cat(arg.name, "_", k);
        while (!taken.insert(name).second) name += "_";
        made.names.push_back(std::move(name));
      }
    }
    WEFT_RETURN_IF_ERROR(place(def, args, device));
    Expanded out;
    def.inputs.clear();
    def.arg_attrs.clear();
    def.resource_arg_unique_id.clear();
    const auto add = [&](size_t i, std::string name) {
      const int at = int(def.inputs.size());
      def.inputs.push_back(from->inputs[i]);
      def.inputs.back().name = std::move(name);
      if (const auto a = from->arg_attrs.find(int(i)); a != from->arg_attrs.end()) def.arg_attrs[at] = a->second;
      if (const auto u = from->resource_arg_unique_id.find(int(i)); u != from->resource_arg_unique_id.end() && !packed.contains(i))
        def.resource_arg_unique_id[at] = u->second;
    };
    for (size_t i = 0; i < from->inputs.size(); ++i) {
      const std::string& name = from->inputs[i].name;
      if (!packed.contains(i)) {
        add(i, name);
        continue;
      }
      Arg& arg = args.at(name);
      out.parts[i].assign(arg.used.begin(), arg.used.end());
      for (size_t part : arg.used) add(i, arg.names[part]);
    }
    do out.name = def.name = cat(function, "_packed_", next_++);
    while (library_.contains(out.name));
    WEFT_RETURN_IF_ERROR(library_.add_derived(std::move(def), function));
    return out;
  }

  static std::string source_of(const std::string& input) {
    const size_t begin = input.starts_with('^') ? 1 : 0;
    return input.substr(begin, input.find(':') - begin);
  }
  static Arg* find(Args& args, const std::string& input) {
    const auto it = args.find(source_of(input));
    return it == args.end() ? nullptr : &it->second;
  }

  // A node without a device that uses a packed resource, and runs where its result is needed: on several of the devices, if on several.
  struct Copied {
    const Devices* devices;
    std::set<size_t> needed;
    std::string name(const std::string& node, size_t i) const { return needed.size() == 1 ? node : cat(node, "_on_", i); }
  };
  using Copies = std::map<std::string, Copied>;

  Status place(graph::FunctionDef& def, Args& args, const std::string& device) {
    std::set<std::string> resources;
    for (const graph::ArgDef& a : def.inputs) {
      if (a.type == DType::kResource && args.contains(a.name)) resources.insert(a.name);
    }
    Copies copies = copied_nodes(def, args, resources);
    WEFT_RETURN_IF_ERROR(find_needed(def, copies, device));
    std::vector<graph::NodeDef> nodes;
    for (graph::NodeDef& n : def.nodes) {
      const auto c = copies.find(n.name);
      if (c == copies.end()) {
        WEFT_RETURN_IF_ERROR(rewire(n, args, device));
        rewire_to_copies(n, copies, full_name(n.device, device));
        nodes.push_back(std::move(n));
        continue;
      }
      for (size_t i : c->second.needed) {
        graph::NodeDef copy = n;
        copy.name = c->second.name(n.name, i);
        copy.device = (*c->second.devices)[i];
        for (std::string& input : copy.inputs) {
          if (Arg* arg = find(args, input)) input = arg->use(part_of(*arg->devices, copy.device));
        }
        rewire_to_copies(copy, copies, copy.device);
        nodes.push_back(std::move(copy));
      }
    }
    for (auto& [output, value] : def.ret) {
      const auto c = copies.find(source_of(value));
      if (Arg* arg = find(args, value)) value = arg->use(part_of(*arg->devices, device));
      else if (c != copies.end()) value = cat(c->second.name(c->first, part_of(*c->second.devices, device)), value.substr(c->first.size()));
    }
    for (auto& [output, node] : def.control_ret) {
      const auto c = copies.find(node);
      if (c == copies.end() || c->second.needed.size() == 1) continue;
      graph::NodeDef all;
      all.name = cat(node, "_on_all");
      all.op = op::op_of(op::Role::kNoOp);
      all.device = device;
      for (size_t i : c->second.needed) all.inputs.push_back(cat("^", c->second.name(node, i)));
      node = all.name;
      nodes.push_back(std::move(all));
    }
    def.nodes = std::move(nodes);
    return {};
  }

  Copies copied_nodes(const graph::FunctionDef& def, Args& args, std::set<std::string>& resources) {
    Copies out;
    for (bool more = true; more;) {  // an Identity of a handle is packed, too
      more = false;
      for (const graph::NodeDef& n : def.nodes) {
        bool calls = library_.contains(n.op);
        graph::for_functions(n.attrs, [&](const std::string&) { calls = true; });
        if (!n.device.empty() || calls || out.contains(n.name)) continue;
        const Devices* devices = nullptr;
        for (const std::string& input : n.inputs) {
          const std::string source = source_of(input);
          if (input.starts_with('^') || !resources.contains(source)) continue;
          const auto copied = out.find(source);
          const Devices* own = copied != out.end() ? copied->second.devices : args.at(source).devices;
          if (!devices || *devices == *own) devices = own;
        }
        if (!devices) continue;
        out[n.name] = {devices, {}};
        if (n.op == op::op_of(op::Role::kIdentity)) resources.insert(n.name);
        more = true;
      }
    }
    return out;
  }

  Status find_needed(const graph::FunctionDef& def, Copies& copies, const std::string& device) {
    std::map<std::string, const graph::NodeDef*> nodes;
    for (const graph::NodeDef& n : def.nodes) nodes[n.name] = &n;
    const std::function<void(const std::string&, size_t)> need = [&](const std::string& node, size_t i) {
      Copied& copied = copies.at(node);
      if (!copied.needed.insert(i).second) return;
      for (const std::string& input : nodes.at(node)->inputs) {
        const auto from = copies.find(source_of(input));
        if (from != copies.end() && i < from->second.devices->size()) need(from->first, i);
      }
    };
    for (const graph::NodeDef& n : def.nodes) {
      if (copies.contains(n.name)) continue;
      const std::string own = full_name(n.device, device);
      for (const std::string& input : n.inputs) {
        const auto from = copies.find(source_of(input));
        if (from == copies.end()) continue;
        const bool is_control = input.starts_with('^'),
                   is_there = std::find(from->second.devices->begin(), from->second.devices->end(), own) != from->second.devices->end();
        if (!is_control && !is_there)
          return invalid_argument("Dst node should be assigned to an allowed device. Found an edge from node ", from->first, " to node ", n.name,
                                  " assigned to ", own);
        if (!is_control || (is_there && n.op != op::op_of(op::Role::kNoOp) && n.op != op::op_of(op::Role::kConst)))
          need(from->first, part_of(*from->second.devices, own));
      }
    }
    for (const auto& [output, value] : def.ret) {
      if (const auto from = copies.find(source_of(value)); from != copies.end()) need(from->first, part_of(*from->second.devices, device));
    }
    // What nobody needs the result of runs where the function does.
    for (auto it = def.nodes.rbegin(); it != def.nodes.rend(); ++it) {
      if (const auto c = copies.find(it->name); c != copies.end() && c->second.needed.empty()) need(it->name, part_of(*c->second.devices, device));
    }
    return {};
  }

  // Inputs from copied nodes come from the copy on the node's device; it waits for that, or for all of them.
  static void rewire_to_copies(graph::NodeDef& node, const Copies& copies, const std::string& device) {
    std::vector<std::string> inputs;
    for (std::string& input : node.inputs) {
      const std::string source = source_of(input);
      const auto from = copies.find(source);
      if (from == copies.end()) {
        inputs.push_back(std::move(input));
        continue;
      }
      const Copied& c = from->second;
      const size_t part = part_of(*c.devices, device);
      if (!input.starts_with('^')) {
        inputs.push_back(cat(c.name(source, part), input.substr(source.size())));
      } else if (c.needed.contains(part) && (*c.devices)[part] == device && node.op != op::op_of(op::Role::kNoOp)) {
        inputs.push_back(cat("^", c.name(source, part)));
      } else {
        for (size_t i : c.needed) inputs.push_back(cat("^", c.name(source, i)));
      }
    }
    node.inputs = std::move(inputs);
  }

  Status rewire(graph::NodeDef& node, Args& args, const std::string& device) {
    std::map<size_t, Devices> packed;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (const Arg* arg = find(args, node.inputs[i])) packed[i] = *arg->devices;
    }
    if (packed.empty()) return {};
    const std::string own = full_name(node.device, device);
    const auto f = node.attrs.find("f");
    const bool is_call = f != node.attrs.end() && (node.op == op::op_of(op::Role::kCall) || node.op == op::op_of(op::Role::kCall, true));
    if (is_call || library_.contains(node.op)) {
      const auto* called = is_call ? f->second.get<graph::FunctionAttr>() : nullptr;
      WEFT_ASSIGN(const Expanded made, expand(called ? called->name : node.op, packed, own));
      const auto tin = node.attrs.find("Tin");
      const auto* types = tin == node.attrs.end() ? nullptr : tin->second.get<std::vector<DType>>();
      std::vector<std::string> inputs;
      std::vector<DType> new_types;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const size_t before = inputs.size();
        if (Arg* arg = find(args, node.inputs[i])) {
          for (size_t part : made.parts.at(i)) inputs.push_back(arg->use(part));
        } else {
          inputs.push_back(node.inputs[i]);
        }
        if (types && i < types->size()) new_types.insert(new_types.end(), inputs.size() - before, (*types)[i]);
      }
      node.inputs = std::move(inputs);
      if (types) node.attrs["Tin"] = std::move(new_types);
      if (!called) {
        node.op = made.name;
        return {};
      }
      graph::FunctionAttr to = *called;
      to.name = made.name;
      node.attrs["f"] = std::move(to);
      return {};
    }
    for (const auto& [i, devices] : packed) {
      const size_t part = part_of(devices, own);
      WEFT_RETURN_IF_ERROR(check_bodies(node, devices, part, own));
      node.inputs[i] = find(args, node.inputs[i])->use(part);
    }
    return {};
  }

  // Bodies of a loop or a branch get one tensor: that of their node.
  Status check_bodies(const graph::NodeDef& node, const Devices& devices, size_t part, const std::string& own) {
    std::vector<std::string> todo;
    graph::for_functions(node.attrs, [&](const std::string& f) { todo.push_back(f); });
    std::set<std::string> seen;
    while (!todo.empty()) {
      const std::string next = std::move(todo.back());
      todo.pop_back();
      if (!library_.contains(next) || !seen.insert(next).second) continue;
      WEFT_ASSIGN(const std::shared_ptr<const graph::FunctionDef> def, library_.find(next));
      for (const graph::NodeDef& n : def->nodes) {
        todo.push_back(n.op);
        graph::for_functions(n.attrs, [&](const std::string& f) { todo.push_back(f); });
        const std::string there = full_name(n.device, own);
        if (there != devices[part] && std::find(devices.begin(), devices.end(), there) != devices.end())
          return unimplemented("a packed handle as an input of node ", node.name, " (", node.op,
                               "), whose functions use devices of several of its tensors");
      }
    }
    return {};
  }

  graph::FunctionLibrary& library_;
  std::map<std::string, Expanded>& made_;
  int64_t& next_;
  int depth_ = 0;
};

}  // namespace

Status PackedHandles::store(const SendPackedHandle& handle) {
  if (handle.parts.empty()) return invalid_argument("Handles should not be empty.");
  std::vector<Part> parts;
  for (const auto& part : handle.parts) {
    if (const auto* h = std::get_if<RemoteTensorHandle>(&part)) {
      parts.push_back({h->device, *h});
      continue;
    }
    const auto& local = std::get<SendPackedHandle::Local>(part);
    parts.push_back({local.device, local.tensor});
  }
  std::lock_guard lock(mutex_);
  handles_[handle.op_id] = std::move(parts);
  return {};
}

bool PackedHandles::erase(int64_t op_id) {
  std::lock_guard lock(mutex_);
  return handles_.erase(op_id) > 0;
}

bool PackedHandles::empty() const {
  std::lock_guard lock(mutex_);
  return handles_.empty();
}

Result<Operation> PackedHandles::unpack(const Operation& o, graph::FunctionLibrary& library, const std::string& own_device) {
  std::map<size_t, std::vector<Part>> packed;  // by input
  {
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < o.inputs.size(); ++i) {
      const auto* h = std::get_if<RemoteTensorHandle>(&o.inputs[i]);
      const auto it = h ? handles_.find(h->op_id) : handles_.end();
      if (it != handles_.end()) packed[i] = it->second;
    }
  }
  if (packed.empty()) return o;
  const std::string device = full_name(o.device, own_device);
  std::map<size_t, Devices> devices;
  for (const auto& [i, parts] : packed) {
    for (const Part& p : parts) devices[i].push_back(p.device);
  }
  Operation out = o;
  Expanded function;
  if (!o.is_component_function && library.contains(o.name)) {  // a part of a function is on one device as a whole
    std::lock_guard lock(expanded_mutex_);
    WEFT_ASSIGN(function, Expander(library, expanded_, next_).expand(o.name, devices, device));
    out.name = function.name;
  } else {
    for (const auto& [i, names] : devices) function.parts[i] = {part_of(names, device)};
  }
  out.inputs.clear();
  for (size_t i = 0; i < o.inputs.size(); ++i) {
    const auto it = packed.find(i);
    if (it == packed.end()) {
      out.inputs.push_back(o.inputs[i]);
      continue;
    }
    for (size_t part : function.parts.at(i)) out.inputs.push_back(it->second[part].value);
  }
  return out;
}

}  // namespace weft_engine::remote
