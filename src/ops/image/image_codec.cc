// Image files to tensors and back. The codecs are in kernels/cpu/image_codec.h.
#include "kernels/cpu/image_codec.h"

#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::ImageSize;

enum class Format { kUnknown, kJpeg, kPng, kGif, kBmp, kWebp, kJxl };

Format format_of(std::string_view s) {
  if (s.starts_with("\xff\xd8\xff")) return Format::kJpeg;
  if (s.starts_with("\x89PNG\r\n\x1a\n")) return Format::kPng;
  if (s.starts_with("GIF8")) return Format::kGif;
  if (s.starts_with("BM")) return Format::kBmp;
  if (s.starts_with("\xff\x0a") || s.starts_with(std::string_view("\0\0\0\x0cJXL \r\n\x87\n", 12))) return Format::kJxl;
  if (s.starts_with("RIFF") && s.size() >= 12 && s.substr(8, 4) == "WEBP") return Format::kWebp;
  return Format::kUnknown;
}

// One op for all formats, told apart by the contents. What an op's name promises only decides which
// attributes it has and which mistakes it names.
struct DecodeImage {
  std::string op;
  int channels = 0;
  DType dtype = DType::kUint8;
  bool expand_animations = true;
  kernels::JpegOptions jpeg;

  static Result<DecodeImage> make(const NodeInfo& node) {
    DecodeImage k;
    k.op = node.op();
    if (node.find_attr("channels")) {
      const int64_t channels = node.attr<int64_t>("channels");
      if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
        return invalid_argument("`channels` must be 0, 1, 3 or 4 but got ", channels);
      k.channels = int(channels);
    }
    if (node.find_attr("dtype")) k.dtype = node.attr<DType>("dtype");
    if (k.op == "DecodeGif") k.channels = 3;
    if (node.find_attr("expand_animations")) k.expand_animations = node.attr<bool>("expand_animations");
    if (!node.find_attr("ratio")) return k;
    const int64_t ratio = node.attr<int64_t>("ratio");
    if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) return invalid_argument("ratio must be 1, 2, 4, or 8, got ", ratio);
    const std::string& dct = node.attr<std::string>("dct_method");
    if (!dct.empty() && dct != "INTEGER_FAST" && dct != "INTEGER_ACCURATE")
      return invalid_argument("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}");
    k.jpeg.ratio = int(ratio);
    k.jpeg.fancy_upscaling = node.attr<bool>("fancy_upscaling");
    k.jpeg.recover_truncated = node.attr<bool>("try_recover_truncated");
    k.jpeg.acceptable_fraction = node.attr<float>("acceptable_fraction");
    k.jpeg.fast_dct = dct != "INTEGER_ACCURATE";
    return k;
  }

  Status run(KernelContext& c) const {
    const Tensor& contents = c.input(0);
    if (contents.rank() != 0) return invalid_argument("`contents` must be scalar but got shape", contents.shape());
    const std::string_view bytes = contents.data<tstring>()[0].view();
    if (bytes.empty()) return invalid_argument("Input is empty.");
    const Format format = format_of(bytes);
    if (op == "DecodeBmp" && format != Format::kBmp && format != Format::kUnknown)
      return invalid_argument("Trying to decode ", name(format), " format using DecodeBmp op. Use ", python_name(format),
                              " or `decode_image` instead.");
    if (op == "DecodeAndCropJpeg" && format != Format::kJpeg && format != Format::kUnknown)
      return invalid_argument("DecodeAndCropJpeg operation can run on JPEG only, but detected ", name(format), ".");
    switch (format) {
      case Format::kJpeg: return decode_jpeg(c, bytes);
      case Format::kPng: return decode_png(c, bytes);
      case Format::kGif: return decode_gif(c, bytes);
      case Format::kBmp: return decode_bmp(c, bytes);
      case Format::kWebp: return decode_webp(c, bytes);
      case Format::kJxl: return unimplemented("decoding JPEG XL images, which needs libjxl");
      case Format::kUnknown: break;
    }
    return invalid_argument("Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.");
  }

 private:
  static std::string_view name(Format f) {
    constexpr std::string_view kNames[] = {"an unknown", "JPEG", "PNG", "GIF", "BMP", "WebP", "JPEG XL"};
    return kNames[int(f)];
  }
  static std::string_view python_name(Format f) {
    constexpr std::string_view kNames[] = {"another op",   "`decode_jpeg`", "`decode_png`",   "`decode_gif`",
                                           "`decode_bmp`", "`decode_webp`", "`decode_jpegxl`"};
    return kNames[int(f)];
  }

  // Pixels go straight into the output where the types agree, else through scratch memory.
  Status decode(KernelContext& c, DType made, bool with_frames, const std::function<Status(const kernels::AllocatePixels&)>& run_codec) const {
    Tensor pixels;
    WEFT_RETURN_IF_ERROR(run_codec([&](const ImageSize& s) -> Result<void*> {
      const Shape shape = with_frames ? Shape({s.frames, s.height, s.width, s.channels}) : Shape({s.height, s.width, s.channels});
      WEFT_ASSIGN(pixels, c.temp(made, shape));
      return pixels.raw();
    }));
    if (made == dtype) {
      c.set_output(0, std::move(pixels));
      return {};
    }
    WEFT_ASSIGN(Tensor* out, c.allocate(0, pixels.shape()));
    const int64_t n = pixels.num_elements();
    if (made == DType::kUint16) {
      for (int64_t i = 0; i < n; ++i) out->data<float>()[i] = float(pixels.data<uint16_t>()[i]) * (1.0f / 65535.0f);
    } else if (dtype == DType::kUint16) {
      for (int64_t i = 0; i < n; ++i) out->data<uint16_t>()[i] = uint16_t(pixels.data<uint8_t>()[i] * 256);
    } else {
      for (int64_t i = 0; i < n; ++i) out->data<float>()[i] = float(pixels.data<uint8_t>()[i]) * (1.0f / 255.0f);
    }
    return {};
  }

  Status decode_jpeg(KernelContext& c, std::string_view bytes) const {
    if (channels == 4) return invalid_argument("JPEG does not support 4 channels");
    kernels::JpegOptions options = jpeg;
    options.channels = channels;
    if (op == "DecodeAndCropJpeg") {
      const Tensor& window = c.input(1);
      if (window.rank() != 1) return invalid_argument("crop_window must be 1-D, got shape ", window.shape());
      if (window.dim(0) != 4) return invalid_argument("crop_size must have four elements ", window.shape());
      const int32_t* w = window.data<int32_t>();
      options.crop = true;
      options.crop_y = w[0], options.crop_x = w[1], options.crop_height = w[2], options.crop_width = w[3];
    }
    // DecodeGif answers with a batch, whatever it decodes.
    return decode(c, DType::kUint8, op == "DecodeGif", [&](const auto& allocate) { return kernels::decode_jpeg(bytes, options, allocate); });
  }

  Status decode_png(KernelContext& c, std::string_view bytes) const {
    const int bits = dtype == DType::kUint8 ? 8 : 16;
    return decode(c, bits == 8 ? DType::kUint8 : DType::kUint16, op == "DecodeGif",
                  [&](const auto& allocate) { return kernels::decode_png(bytes, channels, bits, allocate); });
  }

  Status decode_gif(KernelContext& c, std::string_view bytes) const {
    if (channels != 0 && channels != 3) return invalid_argument("channels must be 0 or 3 for GIF, got ", channels);
    const bool all_frames = op == "DecodeGif" || (op == "DecodeImage" && expand_animations);
    if (op != "DecodeGif" && op != "DecodeImage") {
      if (op == "DecodeWebP" || op == "DecodeJxl") return invalid_argument("Bad op type ", op);
      WEFT_RETURN_IF_ERROR(decode(c, DType::kUint8, false, [&](const auto& allocate) {
        return kernels::decode_gif(bytes, true, [&](const ImageSize& s) -> Result<void*> {
          if (s.frames > 1)
            return invalid_argument("Got ", s.frames, " frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image");
          return allocate(s);
        });
      }));
      return {};
    }
    return decode(c, DType::kUint8, all_frames, [&](const auto& allocate) { return kernels::decode_gif(bytes, all_frames, allocate); });
  }

  Status decode_bmp(KernelContext& c, std::string_view bytes) const {
    if (op != "DecodeBmp" && op != "DecodeImage")
      return invalid_argument("Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: ", op);
    if (channels == 1) return invalid_argument("`channels` must be 0, 3 or 4 for BMP, but got ", channels);
    return decode(c, DType::kUint8, false, [&](const auto& allocate) { return kernels::decode_bmp(bytes, channels, allocate); });
  }

  Status decode_webp(KernelContext& c, std::string_view bytes) const {
    return decode(c, DType::kUint8, false, [&](const auto& allocate) { return kernels::decode_webp(bytes, channels, allocate); });
  }
};

Status decode_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  const int64_t channels = c.attr<int64_t>("channels");
  if (channels < 0) return invalid_argument("channels must be non-negative, got ", channels);
  c.output(0, {kUnknownDim, kUnknownDim, channels == 0 ? kUnknownDim : channels});
  return {};
}

Status crop_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(decode_shape(c));
  WEFT_ASSIGN(PartialShape window, c.with_rank(1, 1));
  WEFT_RETURN_IF_ERROR(ShapeContext::merge_dim(window.dim(0), 4).status());
  const int64_t channels = c.attr<int64_t>("channels");
  const auto values = c.constant_ints(1);
  if (values && values->size() == 4 && (*values)[2] >= 0 && (*values)[3] >= 0)
    c.output(0, {(*values)[2], (*values)[3], channels == 0 ? kUnknownDim : channels});
  return {};
}

Status gif_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  c.output(0, {kUnknownDim, kUnknownDim, kUnknownDim, 3});
  return {};
}

// An animation has one dimension more, which only the contents tell.
Status image_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  const int64_t channels = c.attr<int64_t>("channels");
  if (channels < 0) return invalid_argument("channels must be non-negative, got ", channels);
  if (!c.attr<bool>("expand_animations")) c.output(0, {kUnknownDim, kUnknownDim, channels == 0 ? kUnknownDim : channels});
  return {};
}

Status webp_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  return shapes::unknown(c);
}

Status run_jpeg_shape(KernelContext& c) {
  const Tensor& contents = c.input(0);
  if (contents.rank() != 0) return invalid_argument("contents must be scalar, got shape ", contents.shape());
  const std::string_view bytes = contents.data<tstring>()[0].view();
  WEFT_ASSIGN(ImageSize size, kernels::jpeg_size(bytes));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({3})));
  return dispatch<int32_t, int64_t>(out->dtype(), [&]<class T>(Tag<T>) {
    out->data<T>()[0] = T(size.height), out->data<T>()[1] = T(size.width), out->data<T>()[2] = T(size.channels);
    return Status();
  });
}

Status jpeg_shape_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  c.output(0, PartialShape::vector(3));
  return {};
}

Status set_string(KernelContext& c, const std::string& s) {
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<tstring>()[0] = s;
  return {};
}

struct EncodeJpeg {
  kernels::JpegEncoding encoding;
  int64_t format_channels = 0;
  std::string format;
  static Result<EncodeJpeg> make(const NodeInfo& node) {
    EncodeJpeg k;
    k.format = node.attr<std::string>("format");
    k.format_channels = k.format == "grayscale" ? 1 : k.format == "rgb" ? 3 : 0;
    const int64_t quality = node.attr<int64_t>("quality"), x = node.attr<int64_t>("x_density"), y = node.attr<int64_t>("y_density");
    if (quality < 0 || quality > 100) return invalid_argument("quality must be in [0,100], got ", quality);
    k.encoding = {.quality = int(quality),
                  .progressive = node.attr<bool>("progressive"),
                  .optimize_size = node.attr<bool>("optimize_size"),
                  .chroma_downsampling = node.attr<bool>("chroma_downsampling"),
                  .density_in_cm = node.attr<std::string>("density_unit") == "cm",
                  .x_density = int(x & 0xffff),
                  .y_density = int(y & 0xffff),
                  .xmp = node.attr<std::string>("xmp_metadata")};
    return k;
  }
  Status run(KernelContext& c) const {
    const Tensor& image = c.input(0);
    if (image.rank() != 3) return invalid_argument("image must be 3-dimensional", image.shape());
    const int64_t channels = image.dim(2);
    if (format_channels && channels != format_channels)
      return invalid_argument("format ", format, " expects ", format_channels, " channels, got ", image.shape());
    return encode(c, image, encoding);
  }
  static Status encode(KernelContext& c, const Tensor& image, const kernels::JpegEncoding& encoding) {
    const int64_t channels = image.dim(2);
    if (image.num_elements() > INT32_MAX) return invalid_argument("Cannot encode images with >= max int32 elements");
    if (channels != 1 && channels != 3) return invalid_argument("image must have 1 or 3 channels, got ", image.shape());
    constexpr int64_t kMostSide = 65500;  // libjpeg's
    if (image.num_elements() == 0 || image.dim(0) > kMostSide || image.dim(1) > kMostSide) return internal_error("JPEG encoding failed");
    WEFT_ASSIGN(std::string bytes, kernels::encode_jpeg(image.data<uint8_t>(), {image.dim(0), image.dim(1), channels}, encoding));
    return set_string(c, bytes);
  }
};

Status run_encode_jpeg_quality(KernelContext& c) {
  const Tensor &image = c.input(0), &quality = c.input(1);
  if (image.rank() != 3) return invalid_argument("image must be 3-dimensional", image.shape());
  if (quality.rank() != 0) return invalid_argument("quality must be scalar: ", quality.shape());
  const int32_t q = quality.data<int32_t>()[0];
  if (q < 0 || q > 100) return invalid_argument("quality must be in [0,100], got ", q);
  return EncodeJpeg::encode(c, image, {.quality = q});
}

Status run_encode_png(KernelContext& c) {
  const Tensor& image = c.input(0);
  const int64_t level = c.attr<int64_t>("compression");
  if (level < -1 || level > 9) return invalid_argument("compression should be in [-1,9], got ", level);
  if (image.rank() < 3) return invalid_argument("images must be at least rank 3", image.shape());
  const int r = image.rank();
  const int64_t height = image.dim(r - 3), width = image.dim(r - 2), channels = image.dim(r - 1);
  if (channels < 1 || channels > 4) return invalid_argument("image must have 1, 2, 3, or 4 channels, got ", channels);
  if (image.num_elements() == 0) return invalid_argument("image cannot be empty but got shape: ", image.shape());
  if (image.num_elements() > INT32_MAX) return invalid_argument("image cannot have >= int32 max elements");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, image.shape().slice(0, r - 3)));
  const int bits = image.dtype() == DType::kUint8 ? 8 : 16;
  const int64_t size = height * width * channels * bits / 8;
  for (int64_t i = 0; i < out->num_elements(); ++i) {
    WEFT_ASSIGN(std::string bytes, kernels::encode_png(image.data<char>() + i * size, {height, width, channels}, bits, int(level)));
    out->data<tstring>()[i] = bytes;
  }
  return {};
}

Status encode_png_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape image, c.with_rank_at_least(0, 3));
  c.output(0, image.has_rank() ? image.slice(0, image.rank() - 3) : PartialShape());
  return {};
}

Status encode_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 3).status());
  if (c.num_inputs() > 1) WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  return shapes::scalar(c);
}

}  // namespace

void image_codec(Registry& r) {
  r.add("DecodeAndCropJpeg")
      .doc("A part of a JPEG image.")
      .in("contents: string")
      .in("crop_window: int32")
      .out("image: uint8")
      .attr("channels: int = 0")
      .attr("ratio: int = 1")
      .attr("fancy_upscaling: bool = true")
      .attr("try_recover_truncated: bool = false")
      .attr("acceptable_fraction: float = 1")
      .attr("dct_method: string = ''")
      .shape(crop_shape)
      .cpu<DecodeImage>();

  r.add("DecodeBmp").doc("A BMP image.").in("contents: string").out("image: uint8").attr("channels: int = 0").shape(decode_shape).cpu<DecodeImage>();

  r.add("DecodeGif").doc("The frames of a GIF.").in("contents: string").out("image: uint8").shape(gif_shape).cpu<DecodeImage>();

  r.add("DecodeImage")
      .doc("A JPEG, PNG, GIF, BMP or WebP image, detected by its contents.")
      .in("contents: string")
      .out("image: dtype")
      .attr("channels: int = 0")
      .attr("dtype: {uint8, uint16, float} = DT_UINT8")
      .attr("expand_animations: bool = true")
      .shape(image_shape)
      .cpu<DecodeImage>();

  r.add("DecodeJpeg")
      .doc("A JPEG image.")
      .in("contents: string")
      .out("image: uint8")
      .attr("channels: int = 0")
      .attr("ratio: int = 1")
      .attr("fancy_upscaling: bool = true")
      .attr("try_recover_truncated: bool = false")
      .attr("acceptable_fraction: float = 1")
      .attr("dct_method: string = ''")
      .shape(decode_shape)
      .cpu<DecodeImage>();

  r.add("DecodeJxl")
      .doc("A JPEG XL image, which weft has no decoder for; the other formats are decoded as by DecodeImage.")
      .in("contents: string")
      .out("image: dtype")
      .attr("channels: int = 0")
      .attr("dtype: {uint8} = DT_UINT8")
      .shape(decode_shape)
      .cpu<DecodeImage>();

  r.add("DecodePng")
      .doc("A PNG image.")
      .in("contents: string")
      .out("image: dtype")
      .attr("channels: int = 0")
      .attr("dtype: {uint8, uint16} = DT_UINT8")
      .shape(decode_shape)
      .cpu<DecodeImage>();

  r.add("DecodeWebP")
      .doc("A WebP image.")
      .in("contents: string")
      .out("image: dtype")
      .attr("channels: int = 0")
      .attr("dtype: {uint8} = DT_UINT8")
      .shape(webp_shape)
      .cpu<DecodeImage>();

  r.add("EncodeJpeg")
      .doc("An image as a JPEG file.")
      .in("image: uint8")
      .out("contents: string")
      .attr("format: {'', 'grayscale', 'rgb'} = ''")
      .attr("quality: int = 95")
      .attr("progressive: bool = false")
      .attr("optimize_size: bool = false")
      .attr("chroma_downsampling: bool = true")
      .attr("density_unit: {'in', 'cm'} = 'in'")
      .attr("x_density: int = 300")
      .attr("y_density: int = 300")
      .attr("xmp_metadata: string = ''")
      .shape(encode_shape)
      .cpu<EncodeJpeg>();

  r.add("EncodeJpegVariableQuality")
      .doc("An image as a JPEG file of a quality given as a tensor.")
      .in("images: uint8")
      .in("quality: int32")
      .out("contents: string")
      .shape(encode_shape)
      .cpu(run_encode_jpeg_quality);

  r.add("EncodePng")
      .doc("Images as PNG files.")
      .in("image: T")
      .out("contents: string")
      .attr("compression: int = -1")
      .attr("T: {uint8, uint16} = DT_UINT8")
      .shape(encode_png_shape)
      .cpu(run_encode_png);

  r.add("ExtractJpegShape")
      .doc("Height, width and channels of a JPEG image.")
      .in("contents: string")
      .out("image_shape: output_type")
      .attr("output_type: {int32, int64} = DT_INT32")
      .shape(jpeg_shape_shape)
      .cpu(run_jpeg_shape);
}

}  // namespace weft_engine::ops
