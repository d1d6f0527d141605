// Files for training: numpy's arrays, CSV, IDX, TFRecord with tf.Example, images. Everything comes as weft::Tensor. Files may come
// from anywhere: what is damaged, cut off or impossibly large throws a weft::Error that names the file, the place and the reason.
// Pipelines over them (shuffle, batch, prefetch) are in weft/dataset.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/tensor.h"

namespace weft::data {

// ---- whole files; paths may be URIs of other file systems ("ram://", those of plug-ins) ----

// The bytes of a file.
WEFT_API std::string read_file(const std::string& path);
// Readers see the old file or the new one, never half of it. Makes the folder if need be.
WEFT_API void write_file(const std::string& path, std::string_view bytes);
// Whether there is a file or folder.
WEFT_API bool file_exists(const std::string& path);

// ---- numpy: .npy is one array, .npz a zip archive of them ----

using Arrays = std::map<std::string, Tensor>;

// Reads or writes an array, or an archive of them.
WEFT_API Tensor read_npy(const std::string& path);
WEFT_API Arrays read_npz(const std::string& path);
WEFT_API void write_npy(const std::string& path, const Tensor& t);
WEFT_API void write_npz(const std::string& path, const Arrays& arrays);
// The same in memory; `name` is what errors call the bytes.
WEFT_API Tensor parse_npy(std::string_view bytes, const std::string& name);
WEFT_API Arrays parse_npz(std::string_view bytes, const std::string& name);
WEFT_API std::string format_npy(const Tensor& t);

// ---- CSV (RFC 4180; also .csv.gz) ----

struct CsvOptions {
  bool header = true;  // the first line names the columns; without it they are "0", "1", ...
  char delimiter = ',';
  std::vector<std::string> names = {};         // instead of those of the header
  std::vector<std::string> select = {};        // only these columns, in this order
  std::map<std::string, DType> types = {};     // of columns; otherwise int64, float32 or string, by what all their values are
  std::vector<std::string> missing = {"", "NA", "N/A", "NaN", "nan", "null", "NULL"};  // texts (not in quotes) that stand for no value
  std::map<std::string, std::string> fill = {};  // by column, what stands in for a missing value
};

// Columns of equal length. A missing value that nothing fills is NaN, which makes a column of integers one of floats; or an empty text.
struct WEFT_API Csv {
  std::vector<std::string> names;
  std::vector<Tensor> columns;

  const Tensor& operator[](const std::string& name) const;  // NotFound names those that are there
  // The number of rows.
  int64_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
  // Columns of numbers side by side, [rows, columns]: all, or those named.
  Tensor matrix(const std::vector<std::string>& of = {}, DType dtype = DType::float32) const;
};

// Reads a table from a file or from text.
WEFT_API Csv read_csv(const std::string& path, const CsvOptions& options = {});
WEFT_API Csv parse_csv(std::string_view text, const std::string& name, const CsvOptions& options = {});

// ---- IDX: the format of MNIST; also compressed by gzip ----

// Reads an array.
WEFT_API Tensor read_idx(const std::string& path);

// ---- TFRecord files; compression is "", "GZIP" or "ZLIB" ----

class WEFT_API TFRecordReader {
 public:
  explicit TFRecordReader(const std::string& path, const std::string& compression = "");
  TFRecordReader(TFRecordReader&&) noexcept;
  TFRecordReader& operator=(TFRecordReader&&) noexcept;
  ~TFRecordReader();
  bool next(std::string& record);  // false: no more; DataLoss for a wrong checksum or a file cut off

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class WEFT_API TFRecordWriter {
 public:
  explicit TFRecordWriter(const std::string& path, const std::string& compression = "");
  TFRecordWriter(TFRecordWriter&&) noexcept;
  TFRecordWriter& operator=(TFRecordWriter&&) noexcept;
  ~TFRecordWriter();  // closes; call close() to hear of errors
  void write(std::string_view record);
  void flush();
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// All records of a file.
WEFT_API std::vector<std::string> read_tfrecords(const std::string& path, const std::string& compression = "");

// ---- tf.Example: named lists of floats, int64s or strings ----

class WEFT_API Example {
 public:
  // The elements of a tensor of any number type or of strings, as a flat list.
  Example& set(const std::string& name, const Tensor& values);
  bool has(const std::string& name) const { return features_.count(name) != 0; }
  Tensor get(const std::string& name) const;  // a vector of float32, int64 or string; NotFound
  // The names of the features.
  std::vector<std::string> names() const;
  std::string serialize() const;
  static Example parse(std::string_view bytes);

 private:
  Arrays features_;
};

// What to expect under a name. The first dimension of the shape may be -1: lists of any length, padded to the longest of the batch.
struct FeatureSpec {
  DType dtype = DType::float32;  // float32, int64 or string
  std::vector<int64_t> shape = {};
  std::optional<Tensor> default_value = {};  // for examples without it, or to pad with; without one it must be there
  bool ragged = false;                       // gives all values in a row, and where each example's begin under NAME/row_splits
};
// Of one serialized example (a scalar) or a batch of them (a vector).
WEFT_API Arrays parse_example(const Tensor& serialized, const std::map<std::string, FeatureSpec>& features);

// ---- images: [height, width, channels] ----

struct ImageOptions {
  int channels = 0;           // 1 grey, 3 RGB, 4 RGBA; 0: as in the file
  int height = 0, width = 0;  // if given, resized (bilinear), and float32 from 0 to 255; else uint8
};
// PNG, JPEG, GIF (its first frame), BMP.
WEFT_API Tensor read_image(const std::string& path, const ImageOptions& options = {});
WEFT_API Tensor decode_image(std::string_view bytes, const ImageOptions& options = {});
// From [height, width] or [height, width, channels] of uint8, uint16, or of float32 from 0 to 1.
WEFT_API void write_png(const std::string& path, const Tensor& image);
WEFT_API std::string encode_png(const Tensor& image);

// FOLDER/CLASS/*.png ...: the classes are the names of the folders, sorted; so are the files.
struct ImageFolder {
  std::vector<std::string> classes, files;
  std::vector<int32_t> labels;  // of the files: places in `classes`
};
// The images of a folder whose subfolders are the classes.
WEFT_API ImageFolder list_image_folder(const std::string& folder);

}  // namespace weft::data
