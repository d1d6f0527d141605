#include <algorithm>

#include "wire/file.h"

#include "api/unwrap.h"
#include "weft/raw/image.h"
#include "weft/data.h"
#include "weft/math.h"
#include "weft/saved_model.h"

namespace weft::data {

Tensor decode_image(std::string_view bytes, const ImageOptions& options) {
  if (options.height < 0 || options.width < 0 || (options.height == 0) != (options.width == 0))
    throw Error(Code::kInvalidArgument, "an image is resized to a height and a width that are both positive");
  Tensor image = raw::DecodeImage(Tensor(std::string(bytes)), {.channels = options.channels, .expand_animations = false});
  if (options.height == 0) return image;
  const Tensor size{int32_t(options.height), int32_t(options.width)};
  const Tensor resized = raw::ResizeBilinear(expand_dims(image, 0), size, {.half_pixel_centers = true});
  auto shape = resized.shape();
  shape.erase(shape.begin());
  return reshape(resized, shape);
}

Tensor read_image(const std::string& path, const ImageOptions& options) {
  const std::string bytes = read_file(path);
  try {
    return decode_image(bytes, options);
  } catch (const Error& e) {
    throw Error(e.code(), path + ": " + e.what());
  }
}

std::string encode_png(const Tensor& image) {
  auto shape = image.shape();
  if (shape.size() == 2) shape.push_back(1);
  if (shape.size() != 3 || shape[2] < 1 || shape[2] > 4)
    throw Error(Code::kInvalidArgument, "a PNG is made of [height, width] or [height, width, 1 to 4], not " + to_string(PartialShape(image.shape())));
  Tensor pixels;
  if (image.dtype() == DType::float32) {
    std::vector<uint8_t> values;
    values.reserve(size_t(image.size()));
    // As tf.image.convert_image_dtype; NaN fails both comparisons and is drawn black.
    for (const float v : image.data<float>()) values.push_back(v >= 1 ? 255 : v > 0 ? uint8_t(v * 255.5f) : 0);
    pixels = Tensor::of<uint8_t>(shape, values);
  } else if (image.dtype() == DType::uint8 || image.dtype() == DType::uint16) {
    const auto raw = image.bytes();
    pixels = Tensor::from_bytes(image.dtype(), shape, raw.data(), raw.size());
  } else {
    throw Error(Code::kInvalidArgument, "a PNG is made of uint8, uint16 or float values, not " + to_string(image.dtype()));
  }
  return raw::EncodePng(pixels).strings()[0];
}

void write_png(const std::string& path, const Tensor& image) { write_file(path, encode_png(image)); }

ImageFolder list_image_folder(const std::string& folder) {
  const auto entries = [](const std::string& path, bool folders) {
    std::vector<std::string> names;
    for (std::string& name : api::unwrap(wire::children_of(path))) {
      if (!name.starts_with(".") && wire::is_folder(path + "/" + name) == folders) names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  ImageFolder out;
  for (const std::string& name : entries(folder, true)) {
    const int32_t label = int32_t(out.classes.size());
    out.classes.push_back(name);
    for (const std::string& file : entries(folder + "/" + name, false)) {
      std::string ending = file.substr(std::min(file.rfind('.'), file.size()));
      for (char& c : ending) c = char(std::tolower(static_cast<unsigned char>(c)));
      if (ending != ".png" && ending != ".jpg" && ending != ".jpeg" && ending != ".gif" && ending != ".bmp") continue;
      out.files.push_back(folder + "/" + name + "/" + file);
      out.labels.push_back(label);
    }
  }
  if (out.files.empty()) throw Error(Code::kNotFound, folder + ": no images; they are looked for in folders named after their classes");
  return out;
}

}  // namespace weft::data
