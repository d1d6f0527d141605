#include "wire/descriptor.h"

#include <charconv>
#include <cstdlib>

#include "wire/proto.h"

namespace weft::wire {

using core::Result;

const FieldInfo* MessageInfo::find(std::string_view field) const {
  for (const FieldInfo& f : fields)
    if (f.name == field) return &f;
  return nullptr;
}

const MessageInfo* DescriptorPool::find(std::string_view message) const {
  const auto found = messages_.find(message);
  return found == messages_.end() ? nullptr : &found->second;
}

const std::map<std::string, int, std::less<>>* DescriptorPool::find_enum(std::string_view name) const {
  const auto found = enums_.find(name);
  return found == enums_.end() ? nullptr : &found->second;
}

DescriptorPool DescriptorPool::builtin() {
  DescriptorPool pool;
  auto add = [&](std::string name, std::vector<FieldInfo> fields) { pool.messages_[name] = MessageInfo{name, std::move(fields)}; };
  auto message = [](std::string name, int number, std::string type, bool repeated = false) {
    return FieldInfo{name, number, FieldType::kMessage, repeated, false, core::cat("tensorflow.", type), ""};
  };
  auto list = [](FieldType type, bool packed) { return std::vector<FieldInfo>{{"value", 1, type, true, packed, "", ""}}; };
  add("tensorflow.BytesList", list(FieldType::kBytes, false));
  add("tensorflow.FloatList", list(FieldType::kFloat, true));
  add("tensorflow.Int64List", list(FieldType::kInt64, true));
  add("tensorflow.Feature", {message("bytes_list", 1, "BytesList"), message("float_list", 2, "FloatList"), message("int64_list", 3, "Int64List")});
  auto entry = [&](std::string owner, std::string type) {
    add(core::cat("tensorflow.", owner), {{"key", 1, FieldType::kString, false, false, "", ""}, message("value", 2, type)});
  };
  entry("Features.FeatureEntry", "Feature");
  entry("FeatureLists.FeatureListEntry", "FeatureList");
  add("tensorflow.Features", {message("feature", 1, "Features.FeatureEntry", true)});
  add("tensorflow.FeatureList", {message("feature", 1, "Feature", true)});
  add("tensorflow.FeatureLists", {message("feature_list", 1, "FeatureLists.FeatureListEntry", true)});
  add("tensorflow.Example", {message("features", 1, "Features")});
  add("tensorflow.SequenceExample", {message("context", 1, "Features"), message("feature_lists", 2, "FeatureLists")});
  return pool;
}

Result<DescriptorPool> DescriptorPool::parse(std::string_view bytes) {
  DescriptorPool pool;
  ProtoReader r(bytes);
  bool good = true;
  while (good && r.next())
    if (r.field() == 1) good = pool.add_file(r.bytes());
  if (!good || !r.ok()) return core::invalid_argument("Failed to parse the FileDescriptorSet");
  return pool;
}

bool DescriptorPool::add_file(std::string_view bytes) {
  std::string package, syntax;
  std::vector<std::string_view> messages, enums;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 2) package = r.string();
    else if (r.field() == 4) messages.push_back(r.bytes());
    else if (r.field() == 5) enums.push_back(r.bytes());
    else if (r.field() == 12) syntax = r.string();
  }
  bool good = r.ok();
  for (auto m : messages) good = good && add_message(m, package, syntax == "proto3", 0);
  for (auto e : enums) good = good && add_enum(e, package);
  return good;
}

namespace {

std::string qualified(const std::string& scope, std::string_view name) { return scope.empty() ? std::string(name) : core::cat(scope, ".", name); }

bool is_packable(FieldType t) { return t != FieldType::kString && t != FieldType::kBytes && t != FieldType::kMessage && t != FieldType::kGroup; }

bool read_field(std::string_view bytes, bool packed_by_default, FieldInfo& f) {
  ProtoReader r(bytes);
  int packed = -1, type = 0;
  while (r.next()) {
    switch (r.field()) {
      case 1: f.name = r.string(); break;
      case 3: f.number = r.int32(); break;
      case 4: f.repeated = r.varint() == 3; break;
      case 5: type = r.int32(); break;
      case 6: f.type_name = r.string().substr(r.bytes().starts_with('.') ? 1 : 0); break;
      case 7: f.default_value = r.string(); break;
      case 8: {
        ProtoReader options = r.message();
        while (options.next())
          if (options.field() == 2) packed = options.boolean();
        break;
      }
      default: break;
    }
  }
  f.type = static_cast<FieldType>(type);
  f.packed = f.repeated && is_packable(f.type) && (packed >= 0 ? packed != 0 : packed_by_default);
  return r.ok() && type >= 1 && type <= 18 && f.number > 0 && f.number < (1 << 29);
}

}  // namespace

bool DescriptorPool::add_message(std::string_view bytes, const std::string& scope, bool packed_by_default, int depth) {
  constexpr int kMaxDepth = 64;
  if (depth > kMaxDepth) return false;
  MessageInfo info;
  std::vector<std::string_view> nested, enums;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) {
      info.name = qualified(scope, r.bytes());
    } else if (r.field() == 2) {
      FieldInfo f;
      if (!read_field(r.bytes(), packed_by_default, f)) return false;
      info.fields.push_back(std::move(f));
    } else if (r.field() == 3) {
      nested.push_back(r.bytes());
    } else if (r.field() == 4) {
      enums.push_back(r.bytes());
    }
  }
  bool good = r.ok();
  for (auto m : nested) good = good && add_message(m, info.name, packed_by_default, depth + 1);
  for (auto e : enums) good = good && add_enum(e, info.name);
  messages_[info.name] = std::move(info);
  return good;
}

bool DescriptorPool::add_enum(std::string_view bytes, const std::string& scope) {
  std::string name;
  std::map<std::string, int, std::less<>> values;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) name = qualified(scope, r.bytes());
    if (r.field() != 2) continue;
    ProtoReader v = r.message();
    std::string value_name;
    int number = 0;
    while (v.next()) {
      if (v.field() == 1) value_name = v.string();
      if (v.field() == 2) number = v.int32();
    }
    values[value_name] = number;
  }
  enums_[name] = std::move(values);
  return r.ok();
}

namespace {

class TextReader {
 public:
  TextReader(const DescriptorPool& pool, std::string_view text) : pool_(pool), s_(text) {}

  bool message(const MessageInfo& info, ProtoWriter& out, char end, int depth) {
    constexpr int kMaxDepth = 100;
    if (depth > kMaxDepth) return false;
    while (true) {
      skip();
      if (at_ == s_.size()) return end == '\0';
      if (end && s_[at_] == end) return ++at_, true;
      const FieldInfo* f = info.find(word());
      if (!f) return false;
      const bool colon = take(':');
      if (take('[')) {
        if (take(']')) continue;
        do
          if (!value(*f, out, depth)) return false;
        while (take(','));
        if (!take(']')) return false;
      } else if (!colon && f->type != FieldType::kMessage && f->type != FieldType::kGroup) {
        return false;
      } else if (!value(*f, out, depth)) {
        return false;
      }
      if (!take(',')) take(';');
    }
  }

 private:
  void skip() {
    while (at_ < s_.size()) {
      if (s_[at_] == '#') at_ = std::min(s_.find('\n', at_), s_.size());
      else if (std::string_view(" \t\r\n\v\f").find(s_[at_]) != std::string_view::npos) ++at_;
      else return;
    }
  }
  bool take(char c) {
    skip();
    if (at_ >= s_.size() || s_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip();
    const size_t begin = at_;
    while (at_ < s_.size() && (std::isalnum(uint8_t(s_[at_])) || std::string_view("_+-.").find(s_[at_]) != std::string_view::npos)) ++at_;
    return s_.substr(begin, at_ - begin);
  }

  bool value(const FieldInfo& f, ProtoWriter& out, int depth) {
    switch (f.type) {
      case FieldType::kMessage: {
        const MessageInfo* inner = pool_.find(f.type_name);
        const char end = take('{') ? '}' : take('<') ? '>' : '\0';
        ProtoWriter w;
        if (!inner || !end || !message(*inner, w, end, depth + 1)) return false;
        out.message(f.number, w);
        return true;
      }
      case FieldType::kGroup: return false;
      case FieldType::kString:
      case FieldType::kBytes: {
        std::string text;
        if (!strings(text)) return false;
        out.bytes(f.number, text);
        return true;
      }
      case FieldType::kFloat:
      case FieldType::kDouble: {
        const std::string text(word());
        char* end = nullptr;
        const double v = std::strtod(text.c_str(), &end);
        if (text.empty() || (*end && std::string_view(end) != "f")) return false;
        f.type == FieldType::kFloat ? out.float32(f.number, float(v)) : out.float64(f.number, v);
        return true;
      }
      default: return integer(f, out);
    }
  }

  bool integer(const FieldInfo& f, ProtoWriter& out) {
    std::string_view text = word();
    int64_t v = 0;
    if (f.type == FieldType::kBool && (text == "true" || text == "t" || text == "True")) {
      v = 1;
    } else if (f.type == FieldType::kBool && (text == "false" || text == "f" || text == "False")) {
      v = 0;
    } else {
      const bool negative = text.starts_with('-');
      if (negative) text.remove_prefix(1);
      const bool hex = text.starts_with("0x") || text.starts_with("0X");
      if (hex) text.remove_prefix(2);
      uint64_t magnitude = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, hex ? 16 : text.starts_with('0') ? 8 : 10);
      if (error != std::errc() || end != text.data() + text.size()) {
        const auto* names = f.type == FieldType::kEnum ? pool_.find_enum(f.type_name) : nullptr;
        if (!names || negative || hex || !names->contains(text)) return false;
        magnitude = uint64_t(int64_t(names->find(text)->second));
      }
      v = int64_t(negative ? 0 - magnitude : magnitude);
    }
    switch (f.type) {
      case FieldType::kFixed64:
      case FieldType::kSfixed64: out.fixed64(f.number, uint64_t(v)); break;
      case FieldType::kFixed32:
      case FieldType::kSfixed32: {
        float bits;
        const auto narrow = uint32_t(v);
        std::memcpy(&bits, &narrow, 4);
        out.float32(f.number, bits);
        break;
      }
      case FieldType::kSint32:
      case FieldType::kSint64: out.varint(f.number, (uint64_t(v) << 1) ^ uint64_t(v >> 63)); break;
      default: out.varint(f.number, uint64_t(v)); break;
    }
    return true;
  }

  // One or more quoted strings, which are joined.
  bool strings(std::string& out) {
    bool any = false;
    while (true) {
      skip();
      if (at_ >= s_.size() || (s_[at_] != '"' && s_[at_] != '\'')) return any;
      any = true;
      const char quote = s_[at_++];
      while (at_ < s_.size() && s_[at_] != quote) {
        if (s_[at_] == '\\' ? !escape(out) : s_[at_] == '\n') return false;
        if (at_ > 0 && !escaped_) out.push_back(s_[at_++]);
        escaped_ = false;
      }
      if (at_ >= s_.size()) return false;
      ++at_;
    }
  }
  bool escape(std::string& out) {
    escaped_ = true;
    if (++at_ >= s_.size()) return false;
    const char c = s_[at_++];
    constexpr std::string_view kNames = "abfnrtv\\'\"?", kValues = "\a\b\f\n\r\t\v\\'\"?";
    if (const size_t k = kNames.find(c); k != kNames.npos) {
      out.push_back(kValues[k]);
      return true;
    }
    const bool hex = c == 'x' || c == 'X';
    if (!hex && (c < '0' || c > '7')) return false;
    if (!hex) --at_;
    int v = 0;
    size_t n = 0;
    for (; n < (hex ? 2u : 3u) && at_ < s_.size(); ++n, ++at_) {
      const char d = s_[at_];
      if (hex ? !std::isxdigit(uint8_t(d)) : d < '0' || d > '7') break;
      v = v * (hex ? 16 : 8) + (d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
    }
    if (n == 0) return false;
    out.push_back(static_cast<char>(v));
    return true;
  }

  const DescriptorPool& pool_;
  std::string_view s_;
  size_t at_ = 0;
  bool escaped_ = false;
};

}  // namespace

Result<std::string> DescriptorPool::encode_text(const MessageInfo& info, std::string_view text) const {
  ProtoWriter w;
  if (!TextReader(*this, text).message(info, w, '\0', 0)) return core::data_loss("Unable to parse text protobuf");
  return w.take();
}

}  // namespace weft::wire
