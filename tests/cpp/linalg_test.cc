// The functions of weft/linalg.h that factor matrices, and special functions of weft/math.h: every number is TensorFlow's (2.21) for the function of the same name and the same arguments.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/api_test.h"

using namespace weft;  // NOLINT

namespace {

bool close(const Tensor& t, const std::vector<int64_t>& shape, const std::vector<double>& want) { return close_to(t, shape, want, 2); }
// Real and imaginary parts, in a last dimension.
Tensor parts(const Tensor& t) { return stack({real(t), imag(t)}, -1); }
// Of the sum of what f gives.
template <class F>
Tensor gradient(F f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x), x);
}

const Tensor A = Tensor::of<float>({3, 3}, {4.f, 1.f, 0.5f, 2.f, 3.f, -1.f, 0.25f, 1.f, 2.f});
const Tensor B = Tensor::of<float>(
    {2, 3, 3}, {4.f, 1.f, 0.5f, 2.f, 3.f, -1.f, 0.25f, 1.f, 2.f, 20.0620003f, 10.25f, 0.5f, 10.25f, 11.f, -0.5f, 0.5f, -0.5f, 5.25f});
const Tensor S = Tensor::of<float>({3, 3}, {18.25f, 10.5f, 3.f, 10.5f, 15.f, 1.5f, 3.f, 1.5f, 6.0619998f});
const Tensor R = Tensor::of<float>({3, 2}, {1.48800004f, 1.89600003f, 1.17900002f, -0.180000007f, -1.07099998f, 1.05400002f});
const Tensor RB = Tensor::of<float>({2, 3, 2}, {-0.402999997f, 1.222f, 0.208000004f, 0.976999998f, 0.356000006f, 0.707000017f, 0.0109999999f,
                                                1.78600001f, 0.127000004f, 0.40200001f, 1.88300002f, -1.34800005f});
const Tensor D = Tensor::of<float>({3, 3}, {1.f, 2.f, 0.f, 4.f, 5.f, 6.f, 0.f, 0.5f, 0.25f});
const Tensor W = Tensor::of<float>({4, 3}, {-1.26999998f, 0.968999982f, -1.17299998f, 1.94400001f, -0.414000005f, -0.746999979f, -3.21399999f,
                                            1.38300002f, -0.425999999f, 0.674000025f, 0.554999948f, -1.91999996f});
const Tensor x = Tensor::of<float>({2, 3}, {0.5f, -1.25f, 2.f, 3.f, 0.25f, -0.75f});
const Tensor u = Tensor::of<float>({3}, {0.100000001f, 0.5f, 0.899999976f});
const Tensor p = Tensor::of<int32_t>({4}, {2, 0, 1, 3});
const Tensor up = Tensor::of<int32_t>({4}, {1, 1, 2, 5});
const Tensor CM = Tensor::of<std::complex<float>>({3, 3}, {{4.f, 0.400000006f},
                                                           {1.f, 0.200000003f},
                                                           {0.5f, 0.0250000004f},
                                                           {2.f, 0.100000001f},
                                                           {3.f, 0.300000012f},
                                                           {-1.f, 0.100000001f},
                                                           {0.25f, 0.0500000007f},
                                                           {1.f, -0.100000001f},
                                                           {2.f, 0.200000003f}});

}  // namespace

TEST_CASE("special functions and orders") {
  CHECK(close(accumulate_n({x, x}), {2, 3}, {1, -2.5, 4, 6, 0.5, -1.5}));
  CHECK(close(bessel_i0(x), {2, 3}, {1.06348348, 1.4304688, 2.27958536, 4.88079309, 1.01568627, 1.14564681}));
  CHECK(close(bessel_i1(x), {2, 3}, {0.257894337, -0.755281389, 1.59063721, 3.95337105, 0.125979125, -0.40199247}));
  CHECK(close(bessel_i0e(x), {2, 3}, {0.645035386, 0.409836173, 0.308508337, 0.243000388, 0.791017294, 0.541165233}));
  CHECK(close(bessel_i1e(x), {2, 3}, {0.156420827, -0.216391742, 0.215269327, 0.196826756, 0.0981126428, -0.189887792}));
  CHECK(close(erfcinv(u), {3}, {1.16308713, 0.476936311, 0.0888560042}));
  CHECK(close(lbeta(abs(x)), {2}, {-1.01272261, 0.392691135}));
  CHECK(close(polyval({Tensor(2.f), Tensor(-1.f), Tensor(0.5f)}, x), {2, 3}, {0.5, 4.875, 6.5, 15.5, 0.375, 2.375}));
  CHECK(close(reciprocal_no_nan(Tensor{2.f, 0.f, -4.f}), {3}, {0.5, 0, -0.25}));
  CHECK(close(scalar_mul(Tensor(3.f), x), {2, 3}, {1.5, -3.75, 6, 9, 0.75, -2.25}));
  CHECK(close(invert_permutation(p), {4}, {1, 2, 0, 3}));
  CHECK(close(is_non_decreasing(up), {}, {true}));
  CHECK(close(is_strictly_increasing(up), {}, {false}));
  CHECK(close(is_strictly_increasing(u), {}, {true}));
  CHECK(close(sobol_sample(2, 4), {4, 2}, {0.5, 0.5, 0.75, 0.25, 0.25, 0.75, 0.375, 0.375}));
  CHECK(close(sobol_sample(3, 2, 5), {2, 3}, {0.625, 0.125, 0.875, 0.125, 0.625, 0.375}));
  CHECK(close(in_top_k(Tensor{2, 1}, x, 1), {2}, {true, false}));
  CHECK(close(in_top_k(Tensor{0, 1}, x, 2), {2}, {true, true}));
  CHECK(close(approx_max_k(x, 2).values, {2, 2}, {2, 0.5, 3, 0.25}));
  CHECK(close(approx_max_k(x, 2).indices, {2, 2}, {2, 0, 0, 1}));
  CHECK(has(message_of([] { approx_min_k(x, 1); }), "ApproxTopK"));  // not on CPUs, nor in TensorFlow
  CHECK(close(unsorted_segment_sqrt_n(R, Tensor{1, 1, 0}, 3), {3, 2}, {-1.07099998, 1.05400002, 1.88585389, 1.21339536, 0, 0}));
}

TEST_CASE("factors and what is solved with them") {
  CHECK(close(sort(real(linalg::eigvals(A))), {3}, {2, 2, 4.99999905}));
  {
    const auto [e, v] = linalg::eig(B);
    CHECK(close(abs(matmul(cast(B, DType::complex64), v) - v * expand_dims(e, -2)), {2, 3, 3}, std::vector<double>(18, 0)));
  }
  CHECK(close(linalg::eigh_tridiagonal(Tensor{1.f, 2.f, 3.f}, Tensor{0.5f, -0.25f}).values, {3}, {0.788682401, 2.14518881, 3.06612825}));
  CHECK(close(linalg::lu(B).lu, {2, 3, 3},
              {4, 1, 0.5, 0.5, 2.5, -1.25, 0.0625, 0.375, 2.4375, 20.0620003, 10.25, 0.5, 0.510916173, 5.76310921, -0.755458117, 0.0249227397,
               -0.131085157, 5.13850927}));
  CHECK(close(linalg::lu(B).p, {2, 3}, {0, 1, 2, 0, 1, 2}));
  CHECK(close(linalg::lu_reconstruct(linalg::lu(B).lu, linalg::lu(B).p), {2, 3, 3},
              {4, 1, 0.5, 2, 3, -1, 0.25, 1, 2, 20.0620003, 10.25, 0.5, 10.25, 11, -0.5, 0.5, -0.5, 5.25}));
  CHECK(close(linalg::lu_matrix_inverse(linalg::lu(B).lu, linalg::lu(B).p), {2, 3, 3},
              {0.28717947, -0.0615384653, -0.102564111, -0.174358979, 0.323076934, 0.205128223, 0.051282052, -0.15384616, 0.410256416, 0.0967831165,
               -0.0909971744, -0.0178838391, -0.0909971744, 0.17686148, 0.0255103484, -0.0178838372, 0.0255103484, 0.194608971}));
  CHECK(close(linalg::lu_solve(linalg::lu(B).lu, linalg::lu(B).p, RB), {2, 3, 2},
              {-0.165046155, 0.218297437, 0.210492298, 0.24760513, 0.0933846161, 0.202410266, -0.0441672988, 0.160381213, 0.0694964305, -0.125810593,
               0.369491786, -0.284018278}));
  CHECK(close(linalg::lu_solve(linalg::lu(A).lu, linalg::lu(A).p, R), {3, 2},
              {0.464615375, 0.447466671, -0.0982307717, -0.172533318, -0.544461548, 0.55733335}));
  CHECK(close(linalg::cholesky_solve(linalg::cholesky(S), R), {3, 2},
              {0.102843225, 0.162663937, 0.0301118437, -0.138632104, -0.235021025, 0.127673432}));
  CHECK(close(linalg::banded_triangular_solve(Tensor{{2.f, 3.f, 4.f}, {0.f, 1.f, -1.f}}, R), {3, 2},
              {0.744000018, 0.948000014, 0.144999996, -0.376000017, -0.2315, 0.169499993}));
  CHECK(close(linalg::tridiagonal_solve(D, R), {3, 2}, {0.30156523, 0.514086962, 0.281739146, -0.160347834, -0.190239146, 0.182347834}));
  CHECK(close(linalg::tridiagonal_solve(D, Tensor{1.f, 2.f, 3.f}), {3}, {0.204347834, 0.182608679, 0.492391348}));
  CHECK(close(linalg::tridiagonal_matmul(D, R), {3, 2}, {7.13100004, 7.40400028, 4.49699974, 2.15600014, -6.13124943, 6.27900028}));
}

TEST_CASE("functions of matrices") {
  CHECK(close(linalg::expm(A), {3, 3}, {105.677505, 50.6460953, 3.17883682, 85.4748306, 47.1226997, -6.35765409, 33.2239838, 22.174942, 4.38529539}));
  CHECK(close(linalg::expm(B * Tensor(0.125f)), {2, 3, 3},
              {1.67533326, 0.200037718, 0.0800688565, 0.385825425, 1.46817064, -0.160137698, 0.0685344189, 0.174387708, 1.27525783, 20.37743,
               12.1447001, 0.236264318, 12.1447039, 9.63047123, -0.034235999, 0.236264288, -0.0342360176, 1.93547237}));
  CHECK(close(linalg::expm(zeros({2, 2})), {2, 2}, {1, 0, 0, 1}));
  CHECK(close(parts(linalg::logm(CM)), {3, 3, 2},
              {1.31570911, 0.0898641348, 0.263909042, 0.0419632792, 0.235068858, -0.0077483654, 0.594548225, -0.0159213394, 1.08832312, 0.062647149,
               -0.46348536, 0.0732175559, -0.0281275213, 0.0356964767, 0.38938278, -0.0732991397, 0.790932178, 0.060883835}));
  CHECK(close(linalg::sqrtm(S), {3, 3},
              {4.02486277, 1.36467862, 0.43372494, 1.36467862, 3.62147188, 0.150337934, 0.43372488, 0.150337934, 2.41894078}));
  CHECK(close(linalg::pinv(W), {3, 4},
              {-0.0448998623, 0.123871103, -0.168770969, 0.0789712369, 0.0860034898, 0.00742481649, 0.0785786808, 0.0934283212, -0.164512426,
               -0.127980933, -0.036531508, -0.292493403}));
  CHECK(close(linalg::pinv(R), {2, 3}, {0.208843067, 0.288012594, -0.326493591, 0.334915072, -0.127964854, 0.324447215}));
  CHECK(close(linalg::pinv(A, 0.5), {3, 3},
              {0.122268073, 0.103613816, 0.0240915846, 0.0795945749, 0.0674509481, 0.0156832393, 0.000992908608, 0.000841422006, 0.000195641755}));
  CHECK(close(linalg::matrix_rank(W), {}, {2}));
  CHECK(close(linalg::matrix_rank(B), {2}, {3, 3}));
  CHECK(close(linalg::matrix_rank(A, 3), {}, {1}));
  CHECK(close(linalg::normalize(x).normalized, {2, 3}, {0.12725696, -0.318142384, 0.509027839, 0.763541758, 0.0636284798, -0.19088544}));
  CHECK(close(linalg::normalize(x, {.axis = {1}}).norm, {2, 1}, {2.41091275, 3.10241842}));
  CHECK(close(linalg::normalize(x, {.ord = 1, .axis = {0}}).normalized, {2, 3},
              {0.142857149, -0.833333313, 0.727272749, 0.857142866, 0.166666672, -0.272727281}));
  CHECK(close(linalg::tensor_diag(u), {3, 3}, {0.100000001, 0, 0, 0, 0.5, 0, 0, 0, 0.899999976}));
  CHECK(close(linalg::tensor_diag_part(A), {3}, {4, 3, 2}));
  CHECK(close(linalg::einsum("ij,jk->ik", {A, R}), {3, 2}, {6.59549999, 7.93100023, 7.58400011, 2.19799995, -0.590999961, 2.40199995}));
  CHECK(close(linalg::l2_normalize(u), {3}, {0.09667366, 0.483368278, 0.870062888}));
  CHECK(close(linalg::global_norm({A, R}), {}, {6.76770687}));
}

TEST_CASE("gradients of matrices") {
  auto exponential = function([](const Tensor& x) { return linalg::expm(x); });
  CHECK(close(exponential(A), {3, 3}, {105.677505, 50.6460953, 3.17883682, 85.4748306, 47.1226997, -6.35765409, 33.2239838, 22.174942, 4.38529539}));
  auto slope = function([](const Tensor& x) { return gradient([](const Tensor& y) { return linalg::expm(y); }, x); });
  CHECK(close(slope(A), {3, 3}, {214.22998, 172.249634, 117.847351, 142.902771, 114.244324, 75.219574, 40.9685593, 32.0396957, 17.0629616}));
  CHECK(close(gradient([](const Tensor& x) { return linalg::expm(x); }, A), {3, 3},
              {214.22998, 172.249634, 117.847351, 142.902771, 114.244324, 75.219574, 40.9685593, 32.0396957, 17.0629616}));
  CHECK(close(gradient([](const Tensor& x) { return square(linalg::sqrtm(x)); }, S), {3, 3},
              {1, -9.43019551e-10, 1.39287462e-08, 5.18912191e-10, 1, -6.5099881e-09, -2.78542043e-08, 3.90599242e-09, 1.00000012}));
  CHECK(close(gradient([](const Tensor& x) { return linalg::pinv(x); }, A), {3, 3},
              {-0.0201972425, -0.0580670312, -0.0504930839, -0.0132544339, -0.0381064937, -0.0331360996, -0.0631163642, -0.181459486, -0.157790944}));
  CHECK(close(gradient([](const Tensor& x) { return linalg::lu_solve(linalg::lu(A).lu, linalg::lu(A).p, x); }, R), {3, 2},
              {0.164102569, 0.164102569, 0.107692301, 0.107692301, 0.512820542, 0.512820542}));
  CHECK(close(
      gradient([](const Tensor& x) { return linalg::cholesky_solve(linalg::cholesky(x), R); }, S), {3, 3},
      {-8.14377345e-05, -0.00678549148, -0.0201795511, -0.00678549148, 0.00556044746, 0.0110048624, -0.0201795511, 0.0110048624, 0.0163309593}));
  CHECK(close(gradient([](const Tensor& x) { return linalg::tridiagonal_solve(x, R); }, D), {3, 3},
              {-0.02810473, 0.00116654299, -0, -0.188841224, -0.0179448016, 0.000926371664, -0, -0.120574676, -0.0142502841}));
  CHECK(close(gradient([](const Tensor& x) { return linalg::tridiagonal_matmul(x, R); }, D), {3, 3},
              {0.999000013, -0.0169999599, 0, 3.38400006, 0.999000013, -0.0169999599, 0, 3.38400006, 0.999000013}));
  CHECK(close(gradient([](const Tensor& x) { return linalg::normalize(x).normalized * x; }, x), {2, 3},
              {0.12725693, -0.318142354, 0.509027719, 0.763541639, 0.0636284649, -0.19088541}));
  CHECK(close(gradient([](const Tensor& x) { return bessel_i0(x) + bessel_i1(x) + bessel_i0e(x) + bessel_i1e(x); }, x), {2, 3},
              {0.492747486, 0.284737766, 2.96726942, 7.45076466, 0.245298326, 0.65703553}));
  CHECK(close(gradient([](const Tensor& x) { return erfcinv(x); }, u), {3}, {-3.42804217, -1.11258483, -0.893251657}));
  CHECK(close(gradient([](const Tensor& x) { return lbeta(x); }, u), {3}, {-10.4602451, -2.00000072, -0.791416645}));
  CHECK(close(gradient([](const Tensor& x) { return unsorted_segment_sqrt_n(x, Tensor{1, 1, 0}, 3); }, R), {3, 2},
              {0.707106769, 0.707106769, 0.707106769, 0.707106769, 1, 1}));
}
