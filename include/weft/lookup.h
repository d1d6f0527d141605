// Tables that turn keys into values, and files that go with a model. Both are saved in SavedModels by who tracks them.
//
//   weft::StaticHashTable words(weft::Tensor::of_strings({2}, {"cat", "dog"}), weft::Tensor{int64_t(1), int64_t(2)}, weft::Tensor(int64_t(0)));
//   weft::Tensor ids = words.lookup(weft::Tensor::of_strings({3}, {"dog", "emu", "cat"}));  // 2, 0, 1
#pragma once

#include <string>

#include "weft/module.h"

namespace weft {

// A file that a model needs: copied into its assets when it is saved, found again when it is loaded.
class WEFT_API Asset : public Module {
 public:
  explicit Asset(const std::string& path);
  Tensor path() const;  // its name, for ops that read files
};

struct TextFileTable {
  DType keys = DType::string, values = DType::int64;
  // Columns of the file's lines; -2: the whole line, -1: the number of the line.
  int64_t key_column = -2, value_column = -1;
  int64_t vocabulary_size = -1;  // lines to read; -1: all
  std::string delimiter = "\t";
};

class WEFT_API StaticHashTable : public Module {
 public:
  StaticHashTable(const Tensor& keys, const Tensor& values, const Tensor& default_value);
  StaticHashTable(const Asset& file, const Tensor& default_value, const TextFileTable& format = {});
  // The values of keys; the default for those that are not there.
  Tensor lookup(const Tensor& keys) const;
  // How many keys there are.
  Tensor size() const;
  Tensor handle() const;  // the resource, for raw ops

 private:
  Tensor default_;
};

}  // namespace weft
