// SPDX-License-Identifier: Apache-2.0
//
// gtl::FlatMap, gtl::FlatSet: the standard library's; functions on maps.
#ifndef TENSORFLOW_CORE_PLATFORM_CONTAINERS_H_
#define TENSORFLOW_CORE_PLATFORM_CONTAINERS_H_

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tensorflow/core/platform/hash.h"
#include "tensorflow/core/platform/logging.h"

namespace tensorflow {
namespace gtl {

template <class Key, class Value, class Hash = ::tensorflow::hash<Key>, class Equal = std::equal_to<Key>>
using FlatMap = std::unordered_map<Key, Value, Hash, Equal>;
template <class Key, class Hash = ::tensorflow::hash<Key>, class Equal = std::equal_to<Key>>
using FlatSet = std::unordered_set<Key, Hash, Equal>;

template <class Map>
const typename Map::mapped_type* FindOrNull(const Map& map, const typename Map::key_type& key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}
template <class Map>
typename Map::mapped_type* FindOrNull(Map& map, const typename Map::key_type& key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}
template <class Map>
typename Map::mapped_type FindPtrOrNull(const Map& map, const typename Map::key_type& key) {
  const auto it = map.find(key);
  return it == map.end() ? typename Map::mapped_type() : it->second;
}
template <class Map>
const typename Map::mapped_type& FindWithDefault(const Map& map, const typename Map::key_type& key, const typename Map::mapped_type& other) {
  const auto it = map.find(key);
  return it == map.end() ? other : it->second;
}
template <class Map>
bool InsertOrUpdate(Map* map, const typename Map::key_type& key, const typename Map::mapped_type& value) {
  const auto [it, made] = map->insert({key, value});
  if (!made) it->second = value;
  return made;
}
template <class Set>
bool InsertIfNotPresent(Set* set, const typename Set::value_type& value) {
  return set->insert(value).second;
}
template <class Map>
bool InsertIfNotPresent(Map* map, const typename Map::key_type& key, const typename Map::mapped_type& value) {
  return map->insert({key, value}).second;
}
template <class Map>
typename Map::mapped_type& LookupOrInsert(Map* map, const typename Map::key_type& key, const typename Map::mapped_type& value) {
  return map->insert({key, value}).first->second;
}
template <class Map>
const typename Map::mapped_type& FindOrDie(const Map& map, const typename Map::key_type& key) {
  const auto it = map.find(key);
  CHECK(it != map.end()) << "a key is not in the map";
  return it->second;
}

}  // namespace gtl
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_CONTAINERS_H_
