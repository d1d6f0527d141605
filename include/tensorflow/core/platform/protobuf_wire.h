// SPDX-License-Identifier: Apache-2.0
//
// Messages as bytes, copied and freed: the code of protobuf.h that works on tables. Included by it.
#ifndef TENSORFLOW_CORE_PLATFORM_PROTOBUF_WIRE_H_
#define TENSORFLOW_CORE_PLATFORM_PROTOBUF_WIRE_H_

#include "tensorflow/core/platform/protobuf.h"

namespace tensorflow {
namespace protobuf {

namespace kind {

inline void Construct(int kind, const TypeInfo* type, void* at) {
  static_assert(sizeof(Message) == 2 * sizeof(void*));
  if (IsText(kind)) new (at) std::string;
  else if (kind == kMessage) new (at) Message(type);
  else std::memset(at, 0, Size(kind));
}
inline void Destroy(int kind, void* at) {
  using std::string;
  if (IsText(kind)) static_cast<string*>(at)->~string();
  else if (kind == kMessage) static_cast<Message*>(at)->~Message();
}
inline void Assign(int kind, void* to, const void* from) {
  if (IsText(kind)) *static_cast<std::string*>(to) = *static_cast<const std::string*>(from);
  else if (kind == kMessage) *static_cast<Message*>(to) = *static_cast<const Message*>(from);
  else std::memcpy(to, from, Size(kind));
}
inline int WireType(int kind) {
  switch (kind) {
    case 1:
    case 6:
    case 16: return 1;  // double, fixed64, sfixed64
    case 2:
    case 7:
    case 15: return 5;  // float, fixed32, sfixed32
    case kText:
    case kBytes:
    case kMessage: return 2;
    default: return 0;
  }
}
inline void Store(int kind, uint64 raw, void* to) {
  if (kind == 17 || kind == 18) raw = (raw >> 1) ^ (~(raw & 1) + 1);
  if (kind == 8) *static_cast<bool*>(to) = raw != 0;
  else std::memcpy(to, &raw, Size(kind));
}
inline uint64 Load(int kind, const void* from) {
  uint64 raw = 0;
  if (kind == 8) return *static_cast<const bool*>(from);
  std::memcpy(&raw, from, Size(kind));
  // Negative numbers of 32 bits are written as those of 64.
  if (kind == 5 || kind == 14 || kind == 17) raw = static_cast<uint64>(static_cast<int64>(static_cast<int32>(raw)));
  if (kind == 17 || kind == 18) raw = raw << 1 ^ (raw >> 63 ? ~uint64{0} : 0);
  return raw;
}

}  // namespace kind

// One field after the other; ok() says at the end whether the bytes were well-formed.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  int field() const { return field_; }
  int type() const { return type_; }
  uint64 number() const { return number_; }
  std::string_view bytes() const { return bytes_; }
  std::string_view whole() const { return std::string_view(start_, static_cast<size_t>(rest_.data() - start_)); }  // the field with its tag
  bool Next() {
    if (rest_.empty() || !ok_) return false;
    start_ = rest_.data();
    uint64 tag = 0;
    if (!Varint(&tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return ok_ = false;
    field_ = static_cast<int>(tag >> 3);
    type_ = static_cast<int>(tag & 7);
    if (type_ != 2) return ok_ = Value(type_);
    uint64 size = 0;
    if (!Varint(&size) || size > rest_.size()) return ok_ = false;
    bytes_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  // One number of a packed list.
  bool NextOf(int wire_type) { return !rest_.empty() && ok_ && (ok_ = Value(wire_type)); }
  // Puts a single value where it belongs.
  bool Read(int kind, void* to, int depth) const {
    if (kind::IsText(kind)) static_cast<std::string*>(to)->assign(bytes_);
    else if (kind == kind::kMessage) return static_cast<Message*>(to)->MergeBytes(bytes_, depth);
    else kind::Store(kind, number_, to);
    return true;
  }

 private:
  bool Value(int type) { return type == 0 ? Varint(&number_) : type == 1 ? Fixed(8) : type == 5 && Fixed(4); }
  bool Varint(uint64* out) {
    *out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const uint64 byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      *out |= (byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }
  bool Fixed(size_t size) {
    if (rest_.size() < size) return false;
    number_ = 0;
    std::memcpy(&number_, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }
  std::string_view rest_, bytes_;
  const char* start_ = nullptr;
  uint64 number_ = 0;
  int field_ = 0, type_ = 0;
  bool ok_ = true;
};

// Appends to a text, or only counts.
class WireWriter {
 public:
  WireWriter(std::string* out, size_t* count) : out_(out), count_(count) {}
  void Put(const char* data, size_t size) {
    if (out_) out_->append(data, size);
    else *count_ += size;
  }
  void Varint(uint64 v) {
    char bytes[10];
    size_t n = 0;
    for (; v >= 128; v >>= 7) bytes[n++] = static_cast<char>(v | 128);
    bytes[n++] = static_cast<char>(v);
    Put(bytes, n);
  }
  void Raw(int kind, uint64 raw) {
    const int wire = kind::WireType(kind);
    if (wire == 0) Varint(raw);
    else Put(reinterpret_cast<const char*>(&raw), wire == 1 ? 8 : 4);
  }
  void Tag(int field, int type) { Varint(static_cast<uint64>(field) << 3 | static_cast<uint64>(type)); }
  void Value(int field, int kind, const void* from) {
    Tag(field, kind::WireType(kind));
    if (kind::IsText(kind)) {
      const auto& text = *static_cast<const std::string*>(from);
      Varint(text.size());
      Put(text.data(), text.size());
    } else if (kind == kind::kMessage) {
      const auto& message = *static_cast<const Message*>(from);
      const size_t size = message.ByteSizeLong();
      Varint(size);
      if (out_) message.Emit(out_, nullptr);
      else *count_ += size;
    } else {
      Raw(kind, kind::Load(kind, from));
    }
  }
  void Packed(int field, int kind, const RepeatedBase& values) {
    const size_t step = kind::Size(kind);
    size_t size = 0;
    WireWriter counter(nullptr, &size);
    for (size_t at = 0; at < values.ByteSize(); at += step) counter.Raw(kind, kind::Load(kind, values.Raw() + at));
    Tag(field, 2);
    Varint(size);
    for (size_t at = 0; at < values.ByteSize(); at += step) Raw(kind, kind::Load(kind, values.Raw() + at));
  }
  void Entries(int field, const MapBase& map) {
    for (size_t i = 0; i < map.size(); ++i) {
      size_t size = 0;
      WireWriter counter(nullptr, &size);
      counter.Value(1, map.key_kind(), map.Key(i));
      counter.Value(2, map.value_kind(), map.Value(i));
      Tag(field, 2);
      Varint(size);
      Value(1, map.key_kind(), map.Key(i));
      Value(2, map.value_kind(), map.Value(i));
    }
  }

 private:
  std::string* out_;
  size_t* count_;
};

inline void Message::ClearField(int i) {
  if (!slots_) return;
  Slot& slot = slots_[i];
  const FieldInfo& f = type_->fields[i];
  if (slot.bits) {
    if (f.key_kind) delete slot.map;
    else if ((f.flags & kRepeated) && kind::WireType(f.kind) == 2) delete slot.items;
    else if (f.flags & kRepeated) delete slot.numbers;
    else if (kind::IsText(f.kind)) delete slot.text;
    else if (f.kind == kind::kMessage) delete slot.sub;
  }
  slot.bits = 0;
}
inline void Message::Clear() {
  if (!slots_) return;
  for (int i = 0; i < type_->num_fields; ++i) ClearField(i);
  delete slots_[type_->num_slots - 1].text;
  delete[] slots_;
  slots_ = nullptr;
}
inline void Message::Copy(const Message& o) {
  if (!o.slots_) return;
  for (int i = 0; i < type_->num_slots; ++i) {
    const Slot& from = o.slots_[i];
    if (!from.bits) continue;
    Slot& to = slots()[i];
    const FieldInfo* f = i < type_->num_fields ? &type_->fields[i] : nullptr;
    if (i == type_->num_slots - 1) to.text = new std::string(*from.text);
    else if (!f) to = from;
    else if (f->key_kind) to.map = new MapBase(*from.map);
    else if ((f->flags & kRepeated) && kind::WireType(f->kind) == 2) to.items = new RepeatedPtrBase(*from.items);
    else if (f->flags & kRepeated) to.numbers = new RepeatedBase(*from.numbers);
    else if (kind::IsText(f->kind)) to.text = new std::string(*from.text);
    else if (f->kind == kind::kMessage) to.sub = new Message(*from.sub);
    else to = from;
  }
}

inline bool Message::MergeBytes(std::string_view bytes, int depth) {
  if (depth > 100) return false;  // protobuf's limit
  WireReader r(bytes);
  while (r.Next()) {
    int low = 0, high = type_->num_fields;  // by number
    while (low < high) {
      const int middle = (low + high) / 2;
      if (type_->fields[middle].number < r.field()) low = middle + 1;
      else high = middle;
    }
    const int i = low;
    const FieldInfo* f = i < type_->num_fields && type_->fields[i].number == r.field() ? &type_->fields[i] : nullptr;
    const int wire = f ? kind::WireType(f->kind) : 0;
    const bool plain = f && !f->key_kind, repeated = plain && (f->flags & kRepeated);  // a map is entries and nothing else
    bool ok = true;
    if (f && f->key_kind && r.type() == 2) {
      MapBase* map = EntriesAt(i);
      alignas(8) char key[sizeof(std::string)];
      kind::Construct(f->key_kind, nullptr, key);
      // The key may come after the value.
      WireReader keys(r.bytes());
      while (keys.Next()) {
        if (keys.field() == 1 && keys.type() == kind::WireType(f->key_kind)) ok = keys.Read(f->key_kind, key, depth + 1);
      }
      const size_t at = map->FindOrAdd(key);
      kind::Destroy(f->key_kind, key);
      WireReader values(r.bytes());
      while (ok && values.Next()) {
        if (values.field() == 2 && values.type() == wire) ok = values.Read(f->kind, map->Value(at), depth + 1);
      }
      ok = ok && values.ok();
    } else if (repeated && wire == 2 && r.type() == 2) {
      ok = r.Read(f->kind, ItemsAt(i)->AddItem(), depth + 1);
    } else if (repeated && r.type() == wire) {
      ok = r.Read(f->kind, NumbersAt(i)->AddRaw(kind::Size(f->kind)), depth + 1);
    } else if (repeated && wire != 2 && r.type() == 2) {
      WireReader packed(r.bytes());
      while (packed.NextOf(wire)) packed.Read(f->kind, NumbersAt(i)->AddRaw(kind::Size(f->kind)), depth + 1);
      ok = packed.ok();
    } else if (plain && !repeated && r.type() == wire) {
      if (f->set >= 0) Choose(i, f->set, f->number);
      void* to = slots() + i;
      if (kind::IsText(f->kind)) to = MutableText(i);
      if (f->kind == kind::kMessage) to = MutableSub<Message>(i);
      ok = r.Read(f->kind, to, depth + 1);
    } else {
      unknown()->append(r.whole());
    }
    if (!ok) return false;
  }
  return r.ok();
}

inline void Message::Emit(std::string* out, size_t* count) const {
  if (!slots_) return;
  WireWriter w(out, count);
  for (int i = 0; i < type_->num_fields; ++i) {
    const FieldInfo& f = type_->fields[i];
    const Slot& slot = slots_[i];
    const bool wire2 = kind::WireType(f.kind) == 2;
    if (f.set >= 0 ? !Is(f.set, f.number) : !slot.bits) continue;
    if (f.key_kind) {
      w.Entries(f.number, *slot.map);
    } else if ((f.flags & kRepeated) && wire2) {
      for (int k = 0; k < slot.items->size(); ++k) w.Value(f.number, f.kind, slot.items->Item(k));
    } else if (f.flags & kRepeated) {
      const RepeatedBase& values = *slot.numbers;
      if ((f.flags & kPacked) && !values.empty()) w.Packed(f.number, f.kind, values);
      else
        for (size_t at = 0; at < values.ByteSize(); at += kind::Size(f.kind)) w.Value(f.number, f.kind, values.Raw() + at);
    } else if (kind::IsText(f.kind)) {
      if (f.set >= 0 || !Text(i).empty()) w.Value(f.number, f.kind, &Text(i));
    } else if (f.kind == kind::kMessage) {
      if (slot.sub) w.Value(f.number, f.kind, slot.sub);
    } else if (f.set >= 0 || kind::Load(f.kind, &slot)) {
      w.Value(f.number, f.kind, &slot);
    }
  }
  const std::string& rest = Text(type_->num_slots - 1);
  w.Put(rest.data(), rest.size());
}

inline size_t Message::ByteSizeLong() const {
  size_t count = 0;
  Emit(nullptr, &count);
  return count;
}
inline bool Message::AppendToString(std::string* out) const {
  out->reserve(out->size() + ByteSizeLong());
  Emit(out, nullptr);
  return true;
}
inline std::string Message::AsText(int form) const {
  const std::string bytes = SerializeAsString();
  TF_Buffer* text = weft_message_to_text(type_->name, {bytes.data(), bytes.size()}, form);
  std::string out(static_cast<const char*>(text->data), text->length);
  TF_DeleteBuffer(text);
  return out;
}

}  // namespace protobuf
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_PROTOBUF_WIRE_H_
