#include "saved_model/meta_graph.h"

#include <algorithm>

#include "core/cat.h"
#include "io/message_file.h"
#include "saved_model/model_folder.h"
#include "wire/file.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::saved_model {
namespace {

using wire::ProtoReader;

Status malformed(std::string_view what) { return data_loss("the SavedModel is damaged: malformed ", what); }

Result<TensorInfo> decode_tensor_info(std::string_view bytes, int depth = 0) {
  if (depth > 8) return malformed("TensorInfo: nested too deeply");
  TensorInfo info;
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: info.name = r.string(); break;
      case 2: info.dtype = static_cast<DType>(r.int32()); break;
      case 3: {
        WEFT_ASSIGN(info.shape, wire::decode_shape(r.bytes()));
        break;
      }
      case 4: {
        info.coo_sparse.resize(3);
        ProtoReader s = r.message();
        while (s.next()) {
          if (s.field() >= 1 && s.field() <= 3) info.coo_sparse[size_t(s.field()) - 1] = s.string();
        }
        if (!s.ok()) return malformed("TensorInfo");
        break;
      }
      case 5: {
        ProtoReader s = r.message();
        while (s.next()) {
          if (s.field() != 2) continue;
          WEFT_ASSIGN(TensorInfo part, decode_tensor_info(s.bytes(), depth + 1));
          info.composite.push_back(std::move(part));
        }
        if (!s.ok()) return malformed("TensorInfo");
        break;
      }
      default: break;
    }
  }
  if (!r.ok()) return malformed("TensorInfo");
  return info;
}

struct Entry {
  std::string key;
  std::string_view value;
};
bool read_entry(ProtoReader r, Entry& e) {
  while (r.next()) {
    if (r.field() == 1) e.key = r.string();
    if (r.field() == 2) e.value = r.bytes();
  }
  return r.ok();
}

Result<Signature> decode_signature(std::string_view bytes) {
  Signature s;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1 || r.field() == 2) {
      Entry e;
      if (!read_entry(r.message(), e)) return malformed("SignatureDef");
      WEFT_ASSIGN(TensorInfo info, decode_tensor_info(e.value));
      (r.field() == 1 ? s.inputs : s.outputs).insert_or_assign(e.key, std::move(info));
    } else if (r.field() == 3) {
      s.method_name = r.string();
    }
  }
  if (!r.ok()) return malformed("SignatureDef");
  return s;
}

std::string quoted_tags(const std::vector<std::string>& tags) {
  std::string out = "{ ";
  for (const auto& t : tags) out += cat(t, " ");
  return out + "}";
}

// The op that starts the model, from the places where the versions of TensorFlow put it.
std::string find_init_op(const MetaGraph& m) {
  if (auto it = m.signatures.find("__saved_model_init_op"); it != m.signatures.end()) {
    if (auto out = it->second.outputs.find("__saved_model_init_op"); out != it->second.outputs.end())
      return out->second.name.substr(0, out->second.name.rfind(':'));
  }
  for (const char* key : {"saved_model_main_op", "legacy_init_op"}) {
    if (auto it = m.node_collections.find(key); it != m.node_collections.end() && it->second.size() == 1) return it->second[0];
  }
  return {};
}

}  // namespace

Result<MetaGraph> decode_meta_graph(std::shared_ptr<const std::string> file, std::string_view bytes) {
  MetaGraph m;
  m.file = std::move(file);
  m.bytes = bytes;
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: {
        ProtoReader info = r.message();
        while (info.next()) {
          if (info.field() == 4) m.tags.push_back(info.string());
          if (info.field() == 5) m.tensorflow_version = info.string();
          if (info.field() == 6) m.git_version = info.string();
          if (info.field() == 8) {
            std::string function, alias;
            ProtoReader entry = info.message();
            while (entry.next()) {
              if (entry.field() == 1) function = entry.string();
              if (entry.field() == 2) alias = entry.string();
            }
            m.aliases[std::move(function)] = std::move(alias);
          }
        }
        if (!info.ok()) return malformed("MetaInfoDef");
        break;
      }
      case 2: m.graph_def = r.bytes(); break;
      case 3: {
        ProtoReader s = r.message();
        while (s.next()) {
          if (s.field() == 1) m.filename_tensor = s.string();
          if (s.field() == 2) m.save_tensor = s.string();
          if (s.field() == 3) m.restore_op = s.string();
        }
        if (!s.ok()) return malformed("SaverDef");
        break;
      }
      case 4: {
        Entry e;
        if (!read_entry(r.message(), e)) return malformed("CollectionDef");
        ProtoReader c(e.value);
        const bool trainable = e.key == "trainable_variables";
        while (c.next()) {
          if (c.field() != 1 && !(c.field() == 2 && trainable)) continue;
          const bool nodes = c.field() == 1;
          ProtoReader list = c.message();
          while (list.next()) {
            if (list.field() != 1) continue;
            if (nodes) {
              m.node_collections[e.key].push_back(list.string());
              continue;
            }
            ProtoReader variable = list.message();
            while (variable.next()) {
              if (variable.field() != 1) continue;
              const std::string tensor = variable.string();
              m.trainable_variables.insert(tensor.substr(0, tensor.rfind(':')));
            }
            if (!variable.ok()) return malformed("VariableDef");
          }
          if (!list.ok()) return malformed("CollectionDef");
        }
        if (!c.ok()) return malformed("CollectionDef");
        break;
      }
      case 5: {
        Entry e;
        if (!read_entry(r.message(), e)) return malformed("SignatureDef");
        WEFT_ASSIGN(Signature s, decode_signature(e.value));
        m.signatures.insert_or_assign(e.key, std::move(s));
        break;
      }
      case 6: {
        ProtoReader a = r.message();
        TensorInfo info;
        std::string name;
        while (a.next()) {
          if (a.field() == 1) {
            WEFT_ASSIGN(info, decode_tensor_info(a.bytes()));
          }
          if (a.field() == 2) name = a.string();
        }
        if (!a.ok()) return malformed("AssetFileDef");
        WEFT_RETURN_IF_ERROR(check_asset_name(name));
        m.assets.emplace_back(info.name, name);
        break;
      }
      case 7: m.object_graph = r.bytes(); break;
      default: break;
    }
  }
  if (!r.ok()) return malformed("MetaGraphDef");
  m.init_op = find_init_op(m);
  return m;
}

Result<std::vector<MetaGraph>> read_saved_model(const std::string& dir) {
  std::string path = dir + "/saved_model.pb";
  if (!wire::file_exists(path)) path += "txt";
  if (!wire::file_exists(path)) {
    return not_found("Could not find SavedModel .pb or .pbtxt at supplied export directory path: ", dir,
                     ". Check that the directory exists and that you have the right permissions for accessing it.");
  }
  WEFT_ASSIGN(std::string bytes, path.ends_with("txt") ? io::read_message("tensorflow.SavedModel", path) : io::read_file(path));
  auto file = std::make_shared<const std::string>(std::move(bytes));
  std::vector<MetaGraph> all;
  ProtoReader r(*file);
  while (r.next()) {
    if (r.field() != 2) continue;
    WEFT_ASSIGN(MetaGraph m, decode_meta_graph(file, r.bytes()));
    all.push_back(std::move(m));
  }
  if (!r.ok()) return data_loss("Can't parse ", path, " as binary proto");
  return all;
}

Result<MetaGraph> read_meta_graph(const std::string& dir, const std::vector<std::string>& tags) {
  WEFT_ASSIGN(std::vector<MetaGraph> all, read_saved_model(dir));
  std::vector<std::string> want = tags;
  std::sort(want.begin(), want.end());
  want.erase(std::unique(want.begin(), want.end()), want.end());
  std::string there;
  for (MetaGraph& m : all) {
    std::vector<std::string> has = m.tags;
    std::sort(has.begin(), has.end());
    if (has == want) return std::move(m);
    there += cat(there.empty() ? "" : ", ", quoted_tags(m.tags));
  }
  return not_found(
      "Could not find meta graph def matching supplied tags: ", quoted_tags(tags),
      ". To inspect available tag-sets in the SavedModel, please use the SavedModel CLI: `weft show DIR`. It has: ", there.empty() ? "none" : there);
}

}  // namespace weft_engine::saved_model
