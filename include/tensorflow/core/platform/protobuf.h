// SPDX-License-Identifier: Apache-2.0
//
// Message, from which the classes of tensorflow/weft/*.pb.h are derived (written from proto/ when weft is built). No protobuf library: a message is a row of
// slots that the type's table describes, the wire format is in protobuf_wire.h, and text is the engine's.
#ifndef TENSORFLOW_CORE_PLATFORM_PROTOBUF_H_
#define TENSORFLOW_CORE_PLATFORM_PROTOBUF_H_

#include <cstring>
#include <iosfwd>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "tensorflow/core/platform/protobuf_fields.h"

namespace tensorflow {
namespace protobuf {

inline const std::string& NoText() {
  static const auto* const kNone = new std::string;
  return *kNone;
}

class Message {
 public:
  explicit Message(const TypeInfo* type) : type_(type) {}
  Message(const Message& o) : type_(o.type_) { Copy(o); }
  Message(Message&& o) noexcept : type_(o.type_), slots_(o.slots_) { o.slots_ = nullptr; }
  Message& operator=(const Message& o) {
    if (this != &o) Clear(), Copy(o);
    return *this;
  }
  Message& operator=(Message&& o) noexcept {
    std::swap(slots_, o.slots_);
    return *this;
  }
  ~Message() { Clear(); }

  std::string GetTypeName() const { return std::string(type_->name.data, type_->name.size); }
  inline void Clear();
  bool MergeFromString(std::string_view bytes) { return MergeBytes(bytes, 0); }
  bool ParseFromString(std::string_view bytes) {
    Clear();
    return MergeBytes(bytes, 0);
  }
  bool ParsePartialFromString(std::string_view bytes) { return ParseFromString(bytes); }
  bool ParseFromArray(const void* data, int size) {
    return size >= 0 && ParseFromString({static_cast<const char*>(data), static_cast<size_t>(size)});
  }
  template <class Stream>
  bool ParseFromIstream(Stream* in) {
    std::string bytes;
    char part[4096];
    while (in->read(part, sizeof part), in->gcount() > 0) bytes.append(part, static_cast<size_t>(in->gcount()));
    return ParseFromString(bytes);
  }
  inline size_t ByteSizeLong() const;
  inline bool AppendToString(std::string* out) const;
  bool SerializeToString(std::string* out) const {
    out->clear();
    return AppendToString(out);
  }
  bool SerializePartialToString(std::string* out) const { return SerializeToString(out); }
  std::string SerializeAsString() const {
    std::string out;
    AppendToString(&out);
    return out;
  }
  bool SerializeToArray(void* data, int size) const {
    const std::string bytes = SerializeAsString();
    if (size < 0 || bytes.size() > static_cast<size_t>(size)) return false;
    std::memcpy(data, bytes.data(), bytes.size());
    return true;
  }
  template <class Stream>
  bool SerializeToOstream(Stream* out) const {
    const std::string bytes = SerializeAsString();
    return static_cast<bool>(out->write(bytes.data(), static_cast<std::ptrdiff_t>(bytes.size())));
  }
  bool IsInitialized() const { return true; }
  std::string InitializationErrorString() const { return ""; }
  // Text as protobuf writes it; the short form is one line.
  std::string DebugString() const { return AsText(0); }
  std::string Utf8DebugString() const { return AsText(0); }
  std::string ShortDebugString() const { return AsText(1); }

  // For these headers.
  inline bool MergeBytes(std::string_view bytes, int depth);
  inline void Emit(std::string* out, size_t* count) const;
  inline std::string AsText(int form) const;

 protected:
  // What a field holds: a number in its own bytes, or a pointer.
  union Slot {
    uint64 bits;
    std::string* text;
    Message* sub;
    RepeatedBase* numbers;
    RepeatedPtrBase* items;
    MapBase* map;
  };
  void MergeMessage(const Message& o) { MergeFromString(o.SerializeAsString()); }

  // Accessors, by the field's place in the table. `set` is the slot with the number of the field that is set, of those that share it.
  Slot* slots() {
    if (!slots_) slots_ = new Slot[static_cast<size_t>(type_->num_slots)]();
    return slots_;
  }
  bool Is(int set, int number) const { return slots_ && slots_[set].bits == static_cast<uint64>(number); }
  void Unset(int set, int number) {
    if (Is(set, number)) slots_[set].bits = 0;
  }
  void Choose(int i, int set, int number) {
    if (Is(set, number)) return;
    ClearField(i);
    slots()[set].bits = static_cast<uint64>(number);
  }
  template <class T>
  T Number(int i) const {
    T value{};
    if (slots_) std::memcpy(&value, &slots_[i], sizeof value);
    return value;
  }
  template <class T>
  void SetNumber(int i, T value) {
    std::memcpy(slots() + i, &value, sizeof value);
  }
  const std::string& Text(int i) const { return slots_ && slots_[i].text ? *slots_[i].text : NoText(); }
  std::string* MutableText(int i) {
    Slot& slot = slots()[i];
    if (!slot.text) slot.text = new std::string;
    return slot.text;
  }
  bool HasSub(int i) const { return slots_ && slots_[i].sub; }
  // The class of the message is not yet complete where an accessor is written.
  template <class T>
  const T& Sub(int i) const {
    return HasSub(i) ? reinterpret_cast<const T&>(*slots_[i].sub) : T::default_instance();
  }
  template <class T>
  const T& SubIf(bool set, int i) const {
    return set ? Sub<T>(i) : T::default_instance();
  }
  template <class T>
  T* MutableSub(int i) {
    Slot& slot = slots()[i];
    if (!slot.sub) slot.sub = new Message(type_->fields[i].sub);
    return reinterpret_cast<T*>(slot.sub);
  }
  template <class T>
  T* ReleaseSub(int i) {
    if (!HasSub(i)) return nullptr;
    T* out = new T(std::move(*reinterpret_cast<T*>(slots_[i].sub)));
    ClearField(i);
    return out;
  }
  template <class T>
  static void Take(T* from, T* to) {
    *to = std::move(*from);
    delete from;
  }
  template <class T>
  const RepeatedField<T>& Numbers(int i) const {
    static const RepeatedBase kNone;
    return static_cast<const RepeatedField<T>&>(slots_ && slots_[i].numbers ? *slots_[i].numbers : kNone);
  }
  template <class T>
  RepeatedField<T>* MutableNumbers(int i) {
    return static_cast<RepeatedField<T>*>(NumbersAt(i));
  }
  template <class T>
  const RepeatedPtrField<T>& Items(int i) const {
    return static_cast<const RepeatedPtrField<T>&>(slots_ && slots_[i].items ? *slots_[i].items : NoItems());
  }
  template <class T>
  RepeatedPtrField<T>* MutableItems(int i) {
    return static_cast<RepeatedPtrField<T>*>(ItemsAt(i));
  }
  template <class K, class V>
  const Map<K, V>& Entries(int i) const {
    return static_cast<const Map<K, V>&>(slots_ && slots_[i].map ? *slots_[i].map : NoEntries());
  }
  template <class K, class V>
  Map<K, V>* MutableEntries(int i) {
    return static_cast<Map<K, V>*>(EntriesAt(i));
  }
  inline void ClearField(int i);

 private:
  enum { kRepeated = 1, kPacked = 2 };
  RepeatedBase* NumbersAt(int i) {
    Slot& slot = slots()[i];
    if (!slot.numbers) slot.numbers = new RepeatedBase;
    return slot.numbers;
  }
  RepeatedPtrBase* ItemsAt(int i) {
    Slot& slot = slots()[i];
    if (!slot.items) slot.items = new RepeatedPtrBase(type_->fields[i].kind, type_->fields[i].sub);
    return slot.items;
  }
  MapBase* EntriesAt(int i) {
    Slot& slot = slots()[i];
    const FieldInfo& f = type_->fields[i];
    if (!slot.map) slot.map = new MapBase(f.key_kind, f.kind, f.sub);
    return slot.map;
  }
  static const RepeatedPtrBase& NoItems() {
    static const RepeatedPtrBase kNone(kind::kText, nullptr);
    return kNone;
  }
  static const MapBase& NoEntries() {
    static const auto* const kNone = new MapBase(kind::kText, kind::kText, nullptr);
    return *kNone;
  }
  std::string* unknown() { return MutableText(type_->num_slots - 1); }  // fields that the table does not have, as they came
  inline void Copy(const Message& o);

  const TypeInfo* type_;
  Slot* slots_ = nullptr;
};

class TextFormat {
 public:
  static bool PrintToString(const Message& m, std::string* out) {
    *out = m.DebugString();
    return true;
  }
  static bool ParseFromString(std::string_view text, Message* m) {
    m->Clear();
    return MergeFromString(text, m);
  }
  static bool MergeFromString(std::string_view text, Message* m) {
    const std::string type = m->GetTypeName();
    TF_Buffer* bytes = weft_message_from_text({type.data(), type.size()}, {text.data(), text.size()});
    if (!bytes) return false;
    const bool ok = m->MergeFromString({static_cast<const char*>(bytes->data), bytes->length});
    TF_DeleteBuffer(bytes);
    return ok;
  }
};

}  // namespace protobuf
template <class M>
bool ParseProtoUnlimited(M* message, std::string_view bytes) {
  return message->ParseFromString(bytes);
}
template <class M>
bool ParseProtoUnlimited(M* message, const void* data, size_t size) {
  return message->ParseFromString({static_cast<const char*>(data), size});
}
template <class M>
bool SerializeToStringDeterministic(const M& message, std::string* out) {
  return message.SerializeToString(out);
}

}  // namespace tensorflow

#include "tensorflow/core/platform/protobuf_wire.h"  // IWYU pragma: export

#endif  // TENSORFLOW_CORE_PLATFORM_PROTOBUF_H_
