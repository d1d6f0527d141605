// SPDX-License-Identifier: Apache-2.0
//
// What messages keep several values in: RepeatedField, RepeatedPtrField and Map. Each is a view with types of a class without any, which the code of all messages
// works on: message classes have no members and no code of their own, so that a program pays for none that it does not use.
#ifndef TENSORFLOW_CORE_PLATFORM_PROTOBUF_FIELDS_H_
#define TENSORFLOW_CORE_PLATFORM_PROTOBUF_FIELDS_H_

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace protobuf {

class Message;
using MessageLite = Message;
using TypeInfo = weft_message_type;
using FieldInfo = weft_message_field;

// Values by protobuf's number of their kind: texts, messages and numbers, in memory that somebody else has.
namespace kind {
inline constexpr int kText = 9, kMessage = 11, kBytes = 12;
inline bool IsText(int kind) { return kind == kText || kind == kBytes; }
inline size_t Size(int kind) {
  switch (kind) {
    case kText:
    case kBytes: return sizeof(std::string);
    case kMessage: return 2 * sizeof(void*);
    case 8: return sizeof(bool);
    case 2:
    case 5:
    case 7:
    case 13:
    case 14:
    case 15:
    case 17: return 4;
    default: return 8;
  }
}
void Construct(int kind, const TypeInfo* type, void* at);
void Destroy(int kind, void* at);
void Assign(int kind, void* to, const void* from);
}  // namespace kind

// Numbers in a row.
class RepeatedBase {
 public:
  bool empty() const { return bytes_.empty(); }
  void Clear() { bytes_.clear(); }
  size_t ByteSize() const { return bytes_.size(); }
  const char* Raw() const { return bytes_.data(); }
  void* AddRaw(size_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.data() + bytes_.size() - size;
  }

 protected:
  std::vector<char> bytes_;  // from operator new: aligned for any number
};

template <class T>
class RepeatedField : public RepeatedBase {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;
  RepeatedField() = default;
  RepeatedField(std::initializer_list<T> list) { Add(list.begin(), list.end()); }
  template <class Iterator>
  RepeatedField(Iterator begin, Iterator end) {
    Add(begin, end);
  }
  int size() const { return static_cast<int>(bytes_.size() / sizeof(T)); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data()); }
  T* mutable_data() { return reinterpret_cast<T*>(bytes_.data()); }
  const T& Get(int i) const { return data()[i]; }
  const T& operator[](int i) const { return data()[i]; }
  T& operator[](int i) { return mutable_data()[i]; }
  const T& at(int i) const { return data()[i]; }
  T* Mutable(int i) { return mutable_data() + i; }
  void Set(int i, const T& v) { mutable_data()[i] = v; }
  void Add(T v) { *static_cast<T*>(AddRaw(sizeof(T))) = v; }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::value_type>
  void Add(Iterator begin, Iterator end) {
    for (; begin != end; ++begin) Add(static_cast<T>(*begin));
  }
  template <class Iterator>
  void Assign(Iterator begin, Iterator end) {
    Clear();
    Add(begin, end);
  }
  void Reserve(int n) { bytes_.reserve(static_cast<size_t>(n) * sizeof(T)); }
  void Resize(int n, const T& v) {
    if (n < size()) Truncate(n);
    while (size() < n) Add(v);
  }
  void Truncate(int n) { bytes_.resize(static_cast<size_t>(n) * sizeof(T)); }
  void RemoveLast() { Truncate(size() - 1); }
  void CopyFrom(const RepeatedField& o) { *this = o; }
  void MergeFrom(const RepeatedField& o) { bytes_.insert(bytes_.end(), o.bytes_.begin(), o.bytes_.end()); }
  void Swap(RepeatedField* o) { bytes_.swap(o->bytes_); }
  T* begin() { return mutable_data(); }
  T* end() { return mutable_data() + size(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
};

// Over a list of pointers.
template <class T>
class PtrIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_const_t<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;
  PtrIterator() = default;
  explicit PtrIterator(void* const* at) : at_(at) {}
  operator PtrIterator<const T>() const { return PtrIterator<const T>(at_); }  // NOLINT
  T& operator*() const { return *static_cast<T*>(*at_); }
  T* operator->() const { return static_cast<T*>(*at_); }
  T& operator[](difference_type n) const { return *static_cast<T*>(at_[n]); }
  PtrIterator& operator++() { return ++at_, *this; }
  PtrIterator operator++(int) { return PtrIterator(at_++); }
  PtrIterator& operator--() { return --at_, *this; }
  PtrIterator& operator+=(difference_type n) { return at_ += n, *this; }
  friend PtrIterator operator+(PtrIterator a, difference_type n) { return PtrIterator(a.at_ + n); }
  friend PtrIterator operator-(PtrIterator a, difference_type n) { return PtrIterator(a.at_ - n); }
  friend difference_type operator-(PtrIterator a, PtrIterator b) { return a.at_ - b.at_; }
  friend bool operator==(PtrIterator a, PtrIterator b) { return a.at_ == b.at_; }
  friend bool operator!=(PtrIterator a, PtrIterator b) { return a.at_ != b.at_; }
  friend bool operator<(PtrIterator a, PtrIterator b) { return a.at_ < b.at_; }
  void* const* at() const { return at_; }

 private:
  void* const* at_ = nullptr;
};

// Texts or messages, each of which stays where it is.
class RepeatedPtrBase {
 public:
  RepeatedPtrBase(int kind, const TypeInfo* type) : type_(type), kind_(kind) {}
  RepeatedPtrBase(const RepeatedPtrBase& o) : type_(o.type_), kind_(o.kind_) { MergeFrom(o); }
  RepeatedPtrBase& operator=(const RepeatedPtrBase& o) {
    if (this != &o) Clear(), MergeFrom(o);
    return *this;
  }
  ~RepeatedPtrBase() { Clear(); }
  int size() const { return static_cast<int>(items_.size()); }
  bool empty() const { return items_.empty(); }
  void Clear() { DeleteSubrange(0, size()); }
  void Reserve(int n) { items_.reserve(static_cast<size_t>(n)); }
  void RemoveLast() { DeleteSubrange(size() - 1, 1); }
  void SwapElements(int a, int b) { std::swap(items_[static_cast<size_t>(a)], items_[static_cast<size_t>(b)]); }
  inline void DeleteSubrange(int start, int n);
  inline void MergeFrom(const RepeatedPtrBase& o);
  inline void* AddItem();
  void* Item(int i) const { return items_[static_cast<size_t>(i)]; }

 protected:
  const TypeInfo* type_;
  int kind_;
  std::vector<void*> items_;
};

template <class T>
struct ElementOf {
  static constexpr int kKind = std::is_same_v<T, std::string> ? kind::kText
                               : std::is_floating_point_v<T>  ? (sizeof(T) == 8 ? 1 : 2)
                               : std::is_same_v<T, bool>      ? 8
                               : std::is_enum_v<T>            ? 14
                               : std::is_unsigned_v<T>        ? (sizeof(T) == 8 ? 4 : 13)
                               : std::is_integral_v<T>        ? (sizeof(T) == 8 ? 3 : 5)
                                                              : kind::kMessage;
  static const TypeInfo* Type() {
    if constexpr (kKind == kind::kMessage) return T::Type();
    else return nullptr;
  }
};

template <class T>
class RepeatedPtrField : public RepeatedPtrBase {
 public:
  using value_type = T;
  using iterator = PtrIterator<T>;
  using const_iterator = PtrIterator<const T>;
  RepeatedPtrField() : RepeatedPtrBase(ElementOf<T>::kKind, ElementOf<T>::Type()) {}
  RepeatedPtrField(const RepeatedPtrField& o) : RepeatedPtrField() { MergeFrom(o); }
  RepeatedPtrField& operator=(const RepeatedPtrField&) = default;
  template <class It>
  RepeatedPtrField(It begin, It end) : RepeatedPtrField() {
    for (; begin != end; ++begin) *Add() = *begin;
  }
  const T& Get(int i) const { return *static_cast<T*>(Item(i)); }
  const T& operator[](int i) const { return Get(i); }
  T& operator[](int i) { return *Mutable(i); }
  const T& at(int i) const { return Get(i); }
  T* Mutable(int i) { return static_cast<T*>(Item(i)); }
  T* Add() { return static_cast<T*>(AddItem()); }
  void Add(const T& v) { *Add() = v; }
  void Add(T&& v) { *Add() = std::move(v); }
  void CopyFrom(const RepeatedPtrField& o) { *this = o; }
  void Swap(RepeatedPtrField* o) { items_.swap(o->items_); }
  iterator begin() { return iterator(items_.data()); }
  iterator end() { return iterator(items_.data() + items_.size()); }
  const_iterator begin() const { return const_iterator(items_.data()); }
  const_iterator end() const { return const_iterator(items_.data() + items_.size()); }
};

// Entries by key, in order. An entry lies in memory as a pair of key and value does.
class MapBase {
 public:
  MapBase(int key_kind, int value_kind, const TypeInfo* type) : type_(type), key_kind_(key_kind), value_kind_(value_kind) {}
  MapBase(const MapBase& o) : MapBase(o.key_kind_, o.value_kind_, o.type_) { MergeFrom(o); }
  MapBase& operator=(const MapBase& o) {
    if (this != &o) clear(), MergeFrom(o);
    return *this;
  }
  ~MapBase() { clear(); }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  void clear() {
    while (!items_.empty()) EraseAt(items_.size() - 1);
  }
  int key_kind() const { return key_kind_; }
  int value_kind() const { return value_kind_; }
  const TypeInfo* type() const { return type_; }
  void* Key(size_t i) const { return items_[i]; }
  void* Value(size_t i) const { return static_cast<char*>(items_[i]) + Offset(); }
  inline bool Less(const void* a, const void* b) const;
  inline size_t LowerBound(const void* key) const;
  inline size_t Find(const void* key) const;  // size() where there is none
  inline size_t FindOrAdd(const void* key);
  inline void EraseAt(size_t i);
  inline void MergeFrom(const MapBase& o);

 protected:
  size_t Offset() const {
    const size_t align = kind::Size(value_kind_) < 8 ? kind::Size(value_kind_) : 8;
    return (kind::Size(key_kind_) + align - 1) / align * align;
  }
  const TypeInfo* type_;  // of values
  int key_kind_, value_kind_;
  std::vector<void*> items_;
};

template <class K, class V>
class Map : public MapBase {
 public:
  using key_type = K;
  using mapped_type = V;
  using value_type = std::pair<const K, V>;
  using iterator = PtrIterator<value_type>;
  using const_iterator = PtrIterator<const value_type>;
  Map() : MapBase(ElementOf<K>::kKind, ElementOf<V>::kKind, ElementOf<V>::Type()) {}
  Map(const Map& o) : Map() { MergeFrom(o); }
  Map(std::initializer_list<value_type> list) : Map() {
    for (const value_type& v : list) insert(v);
  }
  Map& operator=(const Map&) = default;
  iterator begin() { return iterator(items_.data()); }
  iterator end() { return iterator(items_.data() + items_.size()); }
  const_iterator begin() const { return const_iterator(items_.data()); }
  const_iterator end() const { return const_iterator(items_.data() + items_.size()); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  iterator find(const K& key) { return iterator(items_.data() + Find(&key)); }
  const_iterator find(const K& key) const { return const_iterator(items_.data() + Find(&key)); }
  bool contains(const K& key) const { return Find(&key) < size(); }
  size_t count(const K& key) const { return contains(key) ? 1 : 0; }
  V& operator[](const K& key) { return *static_cast<V*>(Value(FindOrAdd(&key))); }
  const V& at(const K& key) const { return static_cast<const value_type*>(items_.at(Find(&key)))->second; }
  V& at(const K& key) { return static_cast<value_type*>(items_.at(Find(&key)))->second; }
  std::pair<iterator, bool> insert(const value_type& v) {
    const bool fresh = !contains(v.first);
    if (fresh) (*this)[v.first] = v.second;
    return {find(v.first), fresh};
  }
  template <class Key, class Val>
  std::pair<iterator, bool> emplace(Key&& key, Val&& value) {
    return insert(value_type(std::forward<Key>(key), std::forward<Val>(value)));
  }
  template <class It>
  void insert(It first, It last) {
    for (; first != last; ++first) insert(value_type(first->first, first->second));
  }
  size_t erase(const K& key) {
    const size_t i = Find(&key);
    if (i == size()) return 0;
    return EraseAt(i), 1;
  }
  iterator erase(iterator it) {
    const size_t i = static_cast<size_t>(it.at() - items_.data());
    EraseAt(i);
    return iterator(items_.data() + i);
  }
  void swap(Map& o) { items_.swap(o.items_); }
};

inline void RepeatedPtrBase::DeleteSubrange(int start, int n) {
  const auto first = items_.begin() + start;
  for (auto it = first; it != first + n; ++it) kind::Destroy(kind_, *it), ::operator delete(*it);
  items_.erase(first, first + n);
}
inline void* RepeatedPtrBase::AddItem() {
  void* item = ::operator new(kind::Size(kind_));
  kind::Construct(kind_, type_, item);
  items_.push_back(item);
  return item;
}
inline void RepeatedPtrBase::MergeFrom(const RepeatedPtrBase& o) {
  const int n = o.size();
  for (int i = 0; i < n; ++i) kind::Assign(kind_, AddItem(), o.Item(i));
}

inline bool MapBase::Less(const void* a, const void* b) const {
  if (kind::IsText(key_kind_)) return *static_cast<const std::string*>(a) < *static_cast<const std::string*>(b);
  const bool is_signed = key_kind_ == 3 || key_kind_ == 5 || key_kind_ >= 15;
  uint64 x = 0, y = 0;
  std::memcpy(&x, a, kind::Size(key_kind_));
  std::memcpy(&y, b, kind::Size(key_kind_));
  const int shift = static_cast<int>(64 - 8 * kind::Size(key_kind_));
  return is_signed ? static_cast<int64>(x << shift) < static_cast<int64>(y << shift) : x < y;
}
inline size_t MapBase::LowerBound(const void* key) const {
  size_t low = 0, high = items_.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (Less(items_[middle], key)) low = middle + 1;
    else high = middle;
  }
  return low;
}
inline size_t MapBase::Find(const void* key) const {
  const size_t i = LowerBound(key);
  return i < items_.size() && !Less(key, items_[i]) ? i : items_.size();
}
inline size_t MapBase::FindOrAdd(const void* key) {
  const size_t i = LowerBound(key);
  if (i < items_.size() && !Less(key, items_[i])) return i;
  char* entry = static_cast<char*>(::operator new(Offset() + kind::Size(value_kind_)));
  kind::Construct(key_kind_, nullptr, entry);
  kind::Construct(value_kind_, type_, entry + Offset());
  kind::Assign(key_kind_, entry, key);
  items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(i), entry);
  return i;
}
inline void MapBase::EraseAt(size_t i) {
  kind::Destroy(value_kind_, Value(i));
  kind::Destroy(key_kind_, Key(i));
  ::operator delete(items_[i]);
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(i));
}
inline void MapBase::MergeFrom(const MapBase& o) {
  for (size_t i = 0; i < o.size(); ++i) kind::Assign(value_kind_, Value(FindOrAdd(o.Key(i))), o.Value(i));
}

}  // namespace protobuf
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_PROTOBUF_FIELDS_H_
