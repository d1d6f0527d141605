// BundleWriter and MergeBundles: checkpoints written and read in C++, whole tensors and parts. Prints what it prints with TensorFlow. Argument: a folder.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_slice.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/util/tensor_bundle/tensor_bundle.h"

using namespace tensorflow;  // NOLINT

template <class S>
void Print(const char* what, const S& s) {
  const std::string text(s.message());
  std::printf("%s: %d %s\n", what, static_cast<int>(s.code()), text.substr(0, text.find('\n')).c_str());
}

Tensor Row(std::initializer_list<float> values) {
  Tensor t(DT_FLOAT, TensorShape({static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), t.flat<float>().data());
  return t;
}
Tensor Rows(float first) {
  Tensor t(DT_FLOAT, TensorShape({2, 3}));
  for (int i = 0; i < 6; ++i) t.flat<float>()(i) = first + static_cast<float>(i);
  return t;
}

void Show(const std::string& prefix) {
  BundleReader reader(Env::Default(), prefix);
  Print("open", reader.status());
  if (!reader.status().ok()) return;
  std::vector<std::string> keys;  // first: what is looked up moves the reader
  for (reader.Seek("a"); reader.Valid(); reader.Next()) keys.emplace_back(reader.key());
  for (const std::string& key : keys) {
    DataType type;
    TensorShape shape;
    if (!reader.LookupDtypeAndShape(key, &type, &shape).ok()) continue;
    std::vector<TensorSlice> slices;
    const auto found = reader.LookupTensorSlices(key, &slices);
    std::vector<std::string> texts;
    for (const TensorSlice& s : slices) texts.push_back(s.DebugString());
    std::sort(texts.begin(), texts.end());
    std::printf("%s %s %s", key.c_str(), DataTypeString(type).c_str(), shape.DebugString().c_str());
    for (const std::string& t : texts) std::printf(" [%s]", t.c_str());
    Tensor value(type, shape);
    const auto read = reader.Lookup(key, &value);
    Print("", read);
    if (!read.ok()) continue;
    if (type == DT_FLOAT) {
      for (int64_t i = 0; i < value.NumElements(); ++i) std::printf(" %g", value.flat<float>()(i));
    } else if (type == DT_STRING) {
      for (int64_t i = 0; i < value.NumElements(); ++i) std::printf(" %s", std::string(value.flat<tstring>()(i)).c_str());
    }
    std::printf("\n");
  }
}

int main(int, char** argv) {
  const std::string folder = argv[1], one = folder + "/one", two = folder + "/two", both = folder + "/both";
  Env* env = Env::Default();
  {
    BundleWriter writer(env, one);
    Print("writer", writer.status());
    Tensor words(DT_STRING, TensorShape({2}));
    words.flat<tstring>()(0) = "some";
    words.flat<tstring>()(1) = "words";
    Print("add", writer.Add("words", words));
    Print("add", writer.Add("row", Row({1, 2, 3})));
    Print("again", writer.Add("row", Row({1})));
  }
  {
    BundleWriter writer(env, one);
    Print("add", writer.Add("row", Row({1, 2, 3})));
    Tensor words(DT_STRING, TensorShape({2}));
    words.flat<tstring>()(0) = "some";
    words.flat<tstring>()(1) = "words";
    Print("add", writer.Add("words", words));
    Print("slice", writer.AddSlice("parts", TensorShape({4, 3}), TensorSlice::ParseOrDie("0,2:-"), Rows(0)));
    Print("finish", writer.Finish());
  }
  Show(one);
  {
    BundleWriter writer(env, two);
    Print("slice", writer.AddSlice("parts", TensorShape({4, 3}), TensorSlice({{2, 2}, {0, -1}}), Rows(6)));
    Print("add", writer.Add("scalar", Tensor(7.0f)));
    Print("finish", writer.Finish());
  }
  const tstring prefixes[] = {one, two};
  Print("merge", MergeBundles(env, prefixes, both));
  Show(both);
  {
    BundleReader reader(env, both);
    Tensor part(DT_FLOAT, TensorShape({2, 2}));
    Print("part", reader.LookupSlice("parts", TensorSlice::ParseOrDie("1,2:1,2"), &part));
    for (int i = 0; i < 4; ++i) std::printf(" %g", part.flat<float>()(i));
    std::printf("\n");
  }
  Print("nothing", MergeBundles(env, {tstring(folder + "/none")}, folder + "/merged", true));

  TensorSlice a = TensorSlice::ParseOrDie("0,3:-:2,5"), b({{1, 4}, {2, 2}, {0, 3}}), c;
  std::printf("%d %s\n", a.Intersect(b, &c), c.DebugString().c_str());
  std::printf("%d %d %d %d\n", a.dims(), a.IsFullAt(1), static_cast<int>(a.end(2)), TensorSlice(2).IsFull());
  TensorShape shape;
  Print("shape", a.SliceTensorShape(TensorShape({3, 4, 7}), &shape));
  std::printf("%s\n", shape.DebugString().c_str());
  Print("outside", a.SliceTensorShape(TensorShape({2, 4, 7}), &shape));
  Print("text", TensorSlice::Parse("1,2:x", &a));
  Print("empty", TensorSlice::Parse("1,0", &a));
}
