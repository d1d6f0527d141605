#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void image_codec(Registry& r) {
  r.add("DecodeAndCropJpeg")
      .in("contents: string")
      .in("crop_window: int32")
      .out("image: uint8")
      .attr("channels: int = 0")
      .attr("ratio: int = 1")
      .attr("fancy_upscaling: bool = true")
      .attr("try_recover_truncated: bool = false")
      .attr("acceptable_fraction: float = 1")
      .attr("dct_method: string = ''");

  r.add("DecodeBmp")
      .in("contents: string")
      .out("image: uint8")
      .attr("channels: int = 0");

  r.add("DecodeGif")
      .in("contents: string")
      .out("image: uint8");

  r.add("DecodeImage")
      .in("contents: string")
      .out("image: dtype")
      .attr("channels: int = 0")
      .attr("dtype: {uint8, uint16, float} = DT_UINT8")
      .attr("expand_animations: bool = true");

  r.add("DecodeJpeg")
      .in("contents: string")
      .out("image: uint8")
      .attr("channels: int = 0")
      .attr("ratio: int = 1")
      .attr("fancy_upscaling: bool = true")
      .attr("try_recover_truncated: bool = false")
      .attr("acceptable_fraction: float = 1")
      .attr("dct_method: string = ''");

  r.add("DecodePng")
      .in("contents: string")
      .out("image: dtype")
      .attr("channels: int = 0")
      .attr("dtype: {uint8, uint16} = DT_UINT8");

  r.add("DecodeWebP")
      .in("contents: string")
      .out("image: dtype")
      .attr("channels: int = 0")
      .attr("dtype: {uint8} = DT_UINT8");

  r.add("EncodeJpeg")
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
      .attr("xmp_metadata: string = ''");

  r.add("EncodeJpegVariableQuality")
      .in("images: uint8")
      .in("quality: int32")
      .out("contents: string");

  r.add("EncodePng")
      .in("image: T")
      .out("contents: string")
      .attr("compression: int = -1")
      .attr("T: {uint8, uint16} = DT_UINT8");

  r.add("ExtractJpegShape")
      .in("contents: string")
      .out("image_shape: output_type")
      .attr("output_type: {int32, int64} = DT_INT32");
}

}  // namespace weft::ops
