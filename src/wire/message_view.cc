#include "wire/message_view.h"

#include <algorithm>

#include "wire/text_util.h"

namespace weft_engine::wire {

using core::Result;
using core::Status;

namespace {

struct Item {
  FieldDef def;
  WireValue value;
};

uint64_t normal(FieldType type, uint64_t raw) {
  switch (type) {
    case FieldType::kInt32:
    case FieldType::kEnum:
    case FieldType::kSfixed32: return uint64_t(int64_t(int32_t(raw)));
    case FieldType::kUint32:
    case FieldType::kFixed32:
    case FieldType::kFloat: return uint32_t(raw);
    case FieldType::kBool: return raw != 0;
    case FieldType::kSint32: return uint64_t(int64_t(int32_t(uint32_t(raw) >> 1) ^ -int32_t(raw & 1)));
    case FieldType::kSint64: return raw >> 1 ^ (0 - (raw & 1));
    default: return raw;
  }
}

uint64_t raw_number(const ProtoReader& r) {
  return r.type() == WireType::kVarint ? r.varint() : r.type() == WireType::kFixed64 ? r.fixed64() : r.fixed32();
}

bool unpack(ProtoReader& r, FieldDef def, std::vector<Item>& out) {
  auto add = [&](const auto& numbers) {
    for (uint64_t n : numbers) out.push_back({def, {normal(def.type(), n), {}}});
    return true;
  };
  std::vector<uint64_t> wide;
  std::vector<uint32_t> narrow;
  switch (wire_type(def.type())) {
    case WireType::kVarint: return r.append_varints(wide) && add(wide);
    case WireType::kFixed64: return r.append_fixed(wide) && add(wide);
    default: return r.append_fixed(narrow) && add(narrow);
  }
}

}  // namespace

Result<MessageView> MessageView::read(MessageDef def, std::string_view bytes) {
  MessageView view;
  view.def_ = def;
  std::vector<Item> items;
  // By the name of the oneof: the member that holds, and the first of its items.
  struct Holder {
    std::string_view oneof;
    FieldDef member;
    size_t from;
  };
  std::vector<Holder> holders;
  ProtoReader r(bytes);
  while (r.next()) {
    const FieldDef f = def.find(r.field());
    const bool is_packed = f && f.repeated() && is_packable(f.type()) && r.type() == WireType::kBytes;
    const bool known = f && f.type() != FieldType::kGroup && (is_packed || wire_type(f.type()) == r.type());
    const bool listed =
        !known || f.type() != FieldType::kEnum || is_packed || !f.enumeration().closed() || !f.enumeration().name_of(int32_t(r.varint())).empty();
    if (!known || !listed) {
      view.unknown_.push_back({r.field(), r.type(), {raw_number(r), r.bytes()}});
      continue;
    }
    if (f.must_be_utf8() && !is_utf8(r.bytes())) return core::data_loss("String field '", def.name(), ".", f.name(), "' contains invalid UTF-8 data");
    if (const auto oneof = f.oneof(); !oneof.empty()) {
      auto it = std::find_if(holders.begin(), holders.end(), [&](const Holder& h) { return h.oneof == oneof; });
      if (it == holders.end()) holders.push_back({oneof, f, items.size()});
      else if (!(it->member == f)) *it = {oneof, f, items.size()};
    }
    if (!is_packed) items.push_back({f, {normal(f.type(), raw_number(r)), r.bytes()}});
    else if (!unpack(r, f, items)) return core::data_loss("Field ", def.name(), ".", f.name(), " is not a whole number of values");
  }
  if (!r.ok()) return core::data_loss("The bytes are not a ", def.name());
  if (!holders.empty()) {
    size_t index = 0;
    std::erase_if(items, [&](const Item& item) {
      const size_t at = index++;
      const auto oneof = item.def.oneof();
      if (oneof.empty()) return false;
      const auto it = std::find_if(holders.begin(), holders.end(), [&](const Holder& h) { return h.oneof == oneof; });
      return !(it->member == item.def) || at < it->from;
    });
  }
  const auto by_number = [](const Item& a, const Item& b) { return a.def.number() < b.def.number(); };
  if (!std::is_sorted(items.begin(), items.end(), by_number)) std::stable_sort(items.begin(), items.end(), by_number);

  view.values_.reserve(items.size());
  for (size_t i = 0; i < items.size();) {
    const FieldDef f = items[i].def;
    size_t end = i;
    while (end < items.size() && items[end].def == f) ++end;
    const size_t first = view.values_.size();
    if (f.repeated()) {
      for (; i < end; ++i) view.values_.push_back(items[i].value);
    } else if (f.type() == FieldType::kMessage && end - i > 1) {
      std::string& whole = view.merged_.emplace_back();  // merging messages is joining their bytes
      for (; i < end; ++i) whole += items[i].value.bytes;
      view.values_.push_back({0, whole});
    } else {
      const WireValue& last = items[end - 1].value;
      i = end;
      if (!f.has_presence() && last.number == 0 && last.bytes.empty()) continue;
      view.values_.push_back(last);
    }
    view.fields_.push_back({f, first, view.values_.size() - first});
  }
  return view;
}

const WireValue* MessageView::find(int number) const {
  for (const Field& f : fields_)
    if (f.def.number() == number) return &values_[f.first];
  return nullptr;
}

Result<std::vector<MessageView>> read_map(MessageDef entry, std::span<const WireValue> given) {
  constexpr int kKey = 1, kValue = 2;
  const FieldDef key = entry.find(kKey);
  if (!key || !entry.find(kValue)) return core::data_loss("The map ", entry.name(), " has no key or no value");
  std::vector<MessageView> entries;
  entries.reserve(given.size());
  for (const WireValue& v : given) {
    WEFT_ASSIGN(MessageView e, MessageView::read(entry, v.bytes));
    entries.push_back(std::move(e));
  }
  const WireType type = wire_type(key.type());
  const bool is_signed =
      key.type() != FieldType::kUint32 && key.type() != FieldType::kUint64 && key.type() != FieldType::kFixed32 && key.type() != FieldType::kFixed64;
  auto less = [&](const MessageView& a, const MessageView& b) {
    const WireValue *x = a.find(kKey), *y = b.find(kKey);
    if (type == WireType::kBytes) return (x ? x->bytes : std::string_view()) < (y ? y->bytes : std::string_view());
    const uint64_t m = x ? x->number : 0, n = y ? y->number : 0;
    return is_signed ? int64_t(m) < int64_t(n) : m < n;
  };
  std::stable_sort(entries.begin(), entries.end(), less);
  std::vector<MessageView> out;
  for (size_t i = 0; i < entries.size(); ++i)
    if (i + 1 == entries.size() || less(entries[i], entries[i + 1])) out.push_back(std::move(entries[i]));
  return out;
}

void append_value(std::string& out, FieldDef field, const WireValue& value, bool with_tag) {
  auto varint = [&](uint64_t v) {
    for (; v > 127; v >>= 7) out.push_back(char(v | 128));
    out.push_back(char(v));
  };
  const WireType type = wire_type(field.type());
  if (with_tag) varint(uint64_t(field.number()) << 3 | uint64_t(type));
  switch (type) {
    case WireType::kVarint: {
      const bool zigzag = field.type() == FieldType::kSint32 || field.type() == FieldType::kSint64;
      varint(zigzag ? value.number << 1 ^ uint64_t(int64_t(value.number) >> 63) : value.number);
      break;
    }
    case WireType::kFixed64: out.append(reinterpret_cast<const char*>(&value.number), 8); break;
    case WireType::kFixed32: out.append(reinterpret_cast<const char*>(&value.number), 4); break;
    case WireType::kBytes:
      varint(value.bytes.size());
      out.append(value.bytes);
      break;
  }
}

}  // namespace weft_engine::wire
