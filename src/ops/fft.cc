#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void fft(Registry& r) {
  r.add("BatchFFT")
      .in("input: complex64")
      .out("output: complex64")
      .deprecated(15, "");

  r.add("BatchFFT2D")
      .in("input: complex64")
      .out("output: complex64")
      .deprecated(15, "");

  r.add("BatchFFT3D")
      .in("input: complex64")
      .out("output: complex64")
      .deprecated(15, "");

  r.add("BatchIFFT")
      .in("input: complex64")
      .out("output: complex64")
      .deprecated(15, "");

  r.add("BatchIFFT2D")
      .in("input: complex64")
      .out("output: complex64")
      .deprecated(15, "");

  r.add("BatchIFFT3D")
      .in("input: complex64")
      .out("output: complex64")
      .deprecated(15, "");

  r.add("FFT")
      .in("input: Tcomplex")
      .out("output: Tcomplex")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("FFT2D")
      .in("input: Tcomplex")
      .out("output: Tcomplex")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("FFT3D")
      .in("input: Tcomplex")
      .out("output: Tcomplex")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("IFFT")
      .in("input: Tcomplex")
      .out("output: Tcomplex")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("IFFT2D")
      .in("input: Tcomplex")
      .out("output: Tcomplex")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("IFFT3D")
      .in("input: Tcomplex")
      .out("output: Tcomplex")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("IRFFT")
      .in("input: Tcomplex")
      .in("fft_length: int32")
      .out("output: Treal")
      .attr("Treal: {float, double} = DT_FLOAT")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("IRFFT2D")
      .in("input: Tcomplex")
      .in("fft_length: int32")
      .out("output: Treal")
      .attr("Treal: {float, double} = DT_FLOAT")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("IRFFT3D")
      .in("input: Tcomplex")
      .in("fft_length: int32")
      .out("output: Treal")
      .attr("Treal: {float, double} = DT_FLOAT")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("RFFT")
      .in("input: Treal")
      .in("fft_length: int32")
      .out("output: Tcomplex")
      .attr("Treal: {float, double} = DT_FLOAT")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("RFFT2D")
      .in("input: Treal")
      .in("fft_length: int32")
      .out("output: Tcomplex")
      .attr("Treal: {float, double} = DT_FLOAT")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");

  r.add("RFFT3D")
      .in("input: Treal")
      .in("fft_length: int32")
      .out("output: Tcomplex")
      .attr("Treal: {float, double} = DT_FLOAT")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64");
}

}  // namespace weft::ops
