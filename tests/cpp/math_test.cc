// The functions of weft/array.h, math.h, linalg.h, random.h, strings.h and image.h. Every number is TensorFlow's (2.21) for the function of the same
// name and the same arguments.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/api_test.h"

using namespace weft;  // NOLINT

namespace {

bool close(const Tensor& t, const std::vector<int64_t>& shape, const std::vector<double>& want) { return close_to(t, shape, want); }

const Tensor x{{0.5f, -1.25f, 2.f}, {3.f, 0.25f, -0.75f}}, y{{1.5f, 2.f, -0.5f}, {0.75f, 4.f, 1.f}}, u{0.1f, 0.5f, 0.9f};
const Tensor n{7, -7, 5, 4}, m{2, 3, -3, -2}, w{5, 1, 1, 3, 5, 5}, b{true, false, true}, c{true, true, false};
const Tensor z{std::complex<float>(1, 2), std::complex<float>(-3, 0.5f)};
const Tensor rows{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}, A{{4.f, 1.f}, {2.f, 3.f}}, S{{2.f, 1.f}, {1.f, 3.f}}, v{3.f, 1.f, 2.f, 3.f};
const Tensor ids{0, 0, 2}, uns{2, 0, 2};

}  // namespace

TEST_CASE("mathematics by name") {
  CHECK(close(abs(x), {2, 3}, {0.5, 1.25, 2, 3, 0.25, 0.75}));
  CHECK(close(negative(x), {2, 3}, {-0.5, 1.25, -2, -3, -0.25, 0.75}));
  CHECK(close(sign(x), {2, 3}, {1, -1, 1, 1, 1, -1}));
  CHECK(close(reciprocal(x), {2, 3}, {2, -0.800000012, 0.5, 0.333333343, 4, -1.33333337}));
  CHECK(close(square(x), {2, 3}, {0.25, 1.5625, 4, 9, 0.0625, 0.5625}));
  CHECK(close(exp(x), {2, 3}, {1.64872122, 0.286504805, 7.38905621, 20.085537, 1.28402543, 0.472366542}));
  CHECK(close(expm1(x), {2, 3}, {0.648721278, -0.713495195, 6.38905621, 19.085537, 0.284025431, -0.527633429}));
  CHECK(close(floor(x), {2, 3}, {0, -2, 2, 3, 0, -1}));
  CHECK(close(round(x), {2, 3}, {0, -1, 2, 3, 0, -1}));
  CHECK(close(sin(x), {2, 3}, {0.47942555, -0.948984623, 0.909297407, 0.141120002, 0.247403964, -0.681638777}));
  CHECK(close(cos(x), {2, 3}, {0.87758255, 0.315322369, -0.416146845, -0.989992499, 0.968912423, 0.731688857}));
  CHECK(close(tan(x), {2, 3}, {0.546302497, -3.00956964, -2.18503976, -0.142546549, 0.255341917, -0.931596458}));
  CHECK(close(sinh(x), {2, 3}, {0.521095276, -1.60191917, 3.62686038, 10.0178747, 0.252612323, -0.822316706}));
  CHECK(close(cosh(x), {2, 3}, {1.12762594, 1.8884238, 3.76219583, 10.0676622, 1.03141308, 1.29468334}));
  CHECK(close(tanh(x), {2, 3}, {0.462117136, -0.848283708, 0.964027584, 0.995054722, 0.244918659, -0.635148942}));
  CHECK(close(asinh(x), {2, 3}, {0.481211841, -1.047593, 1.44363546, 1.81844652, 0.247466475, -0.693147182}));
  CHECK(close(atan(x), {2, 3}, {0.463647604, -0.8960554, 1.10714877, 1.24904573, 0.244978666, -0.643501103}));
  CHECK(close(erf(x), {2, 3}, {0.520499885, -0.922900259, 0.995322347, 0.999978006, 0.276326418, -0.711155653}));
  CHECK(close(erfc(x), {2, 3}, {0.479500115, 1.92290008, 0.00467773527, 2.20904967e-05, 0.723673582, 1.71115565}));
  CHECK(close(lgamma(x), {2, 3}, {0.572364926, 1.36643183, 0, 0.693147182, 1.28802252, 1.57570469}));
  CHECK(close(digamma(x), {2, 3}, {-1.96351075, 3.71413898, 0.422784209, 0.922784209, -4.22745419, -2.89412045}));
  CHECK(close(is_nan(x), {2, 3}, {false, false, false, false, false, false}));
  CHECK(close(is_finite(x), {2, 3}, {true, true, true, true, true, true}));
  CHECK(close(sigmoid(x), {2, 3}, {0.622459352, 0.222700149, 0.880797088, 0.952574134, 0.562176526, 0.320821285}));
  CHECK(close(softplus(x), {2, 3}, {0.974076986, 0.251929075, 2.12692809, 3.04858732, 0.825939417, 0.38687101}));
  CHECK(close(sqrt(u), {3}, {0.316227764, 0.707106769, 0.948683262}));
  CHECK(close(rsqrt(u), {3}, {3.1622777, 1.41421354, 1.05409265}));
  CHECK(close(log(u), {3}, {-2.30258512, -0.693147182, -0.105360545}));
  CHECK(close(log1p(u), {3}, {0.0953101814, 0.405465096, 0.641853869}));
  CHECK(close(ceil(u), {3}, {1, 1, 1}));
  CHECK(close(rint(u), {3}, {0, 0, 1}));
  CHECK(close(asin(u), {3}, {0.100167423, 0.52359879, 1.11976945}));
  CHECK(close(acos(u), {3}, {1.47062886, 1.04719758, 0.451026857}));
  CHECK(close(atanh(u), {3}, {0.100335345, 0.549306154, 1.47221935}));
  CHECK(close(erfinv(u), {3}, {0.0888560042, 0.476936311, 1.16308713}));
  CHECK(close(ndtri(u), {3}, {-1.2815516, 0, 1.28155112}));
  CHECK(close(log_sigmoid(u), {3}, {-0.644396663, -0.474076986, -0.34115386}));
  CHECK(close(softsign(u), {3}, {0.0909090936, 0.333333343, 0.473684192}));
  CHECK(close(acosh(u + 1.f), {3}, {0.443568289, 0.962423682, 1.25719583}));
  CHECK(close(add(x, y), {2, 3}, {2, 0.75, 1.5, 3.75, 4.25, 0.25}));
  CHECK(close(subtract(x, y), {2, 3}, {-1, -3.25, 2.5, 2.25, -3.75, -1.75}));
  CHECK(close(multiply(x, y), {2, 3}, {0.75, -2.5, -1, 2.25, 1, -0.75}));
  CHECK(close(divide(x, y), {2, 3}, {0.333333343, -0.625, -4, 4, 0.0625, -0.75}));
  CHECK(close(divide_no_nan(x, y), {2, 3}, {0.333333343, -0.625, -4, 4, 0.0625, -0.75}));
  CHECK(close(multiply_no_nan(x, y), {2, 3}, {0.75, -2.5, -1, 2.25, 1, -0.75}));
  CHECK(close(maximum(x, y), {2, 3}, {1.5, 2, 2, 3, 4, 1}));
  CHECK(close(minimum(x, y), {2, 3}, {0.5, -1.25, -0.5, 0.75, 0.25, -0.75}));
  CHECK(close(squared_difference(x, y), {2, 3}, {1, 10.5625, 6.25, 5.0625, 14.0625, 3.0625}));
  CHECK(close(atan2(x, y), {2, 3}, {0.321750551, -0.558599293, 1.81577492, 1.3258177, 0.062418811, -0.643501103}));
  CHECK(close(xdivy(x, y), {2, 3}, {0.333333343, -0.625, -4, 4, 0.0625, -0.75}));
  CHECK(close(less(x, y), {2, 3}, {true, true, false, false, true, true}));
  CHECK(close(less_equal(x, y), {2, 3}, {true, true, false, false, true, true}));
  CHECK(close(greater(x, y), {2, 3}, {false, false, true, true, false, false}));
  CHECK(close(greater_equal(x, y), {2, 3}, {false, false, true, true, false, false}));
  CHECK(close(equal(x, y), {2, 3}, {false, false, false, false, false, false}));
  CHECK(close(not_equal(x, y), {2, 3}, {true, true, true, true, true, true}));
  CHECK(close(floordiv(x, y), {2, 3}, {0, -1, -4, 4, 0, -1}));
  CHECK(close(floormod(x, y), {2, 3}, {0.5, 0.75, 0, 0, 0.25, 0.25}));
  CHECK(close(pow(u, u), {3}, {0.794328213, 0.707106769, 0.909532547}));
  CHECK(close(xlogy(u, u), {3}, {-0.23025851, -0.346573591, -0.0948244855}));
  CHECK(close(xlog1py(u, u), {3}, {0.00953101832, 0.202732548, 0.577668488}));
  CHECK(close(igamma(u, u), {3}, {0.827551603, 0.682689548, 0.638995647}));
  CHECK(close(igammac(u, u), {3}, {0.172448397, 0.317310452, 0.361004353}));
  CHECK(close(betainc(u, u, u), {3}, {0.406385034, 0.5, 0.885353029}));
  CHECK(close(zeta(u + 1.5f, u), {3}, {41.9084625, 4.93480206, 1.70692444}));
  CHECK(close(polygamma(Tensor{1.f, 2.f, 3.f}, u), {3}, {101.433304, -16.8287945, 9.73901558}));
  CHECK(close(cast(floordiv(n, m), DType::float32), {4}, {3, -3, -2, -2}));
  CHECK(close(cast(mod(n, m), DType::float32), {4}, {1, 2, -1, 0}));
  CHECK(close(cast(divide(n, m), DType::float32), {4}, {3.5, -2.33333325, -1.66666663, -2}));
  CHECK(close(logical_and(b, c), {3}, {true, false, false}));
  CHECK(close(logical_or(b, c), {3}, {true, true, true}));
  CHECK(close(logical_xor(b, c), {3}, {false, true, true}));
  CHECK(close(logical_not(b), {3}, {false, true, false}));
  CHECK(close(reduce_sum(x), {}, {3.75}));
  CHECK(close(reduce_sum(x, {.axis = {1}}), {2}, {1.25, 2.5}));
  CHECK(close(reduce_sum(x, {.axis = {0}, .keepdims = true}), {1, 3}, {3.5, -1, 1.25}));
  CHECK(close(reduce_mean(x), {}, {0.625}));
  CHECK(close(reduce_mean(x, {.axis = {1}}), {2}, {0.416666657, 0.833333313}));
  CHECK(close(reduce_mean(x, {.axis = {0}, .keepdims = true}), {1, 3}, {1.75, -0.5, 0.625}));
  CHECK(close(reduce_max(x), {}, {3}));
  CHECK(close(reduce_max(x, {.axis = {1}}), {2}, {2, 3}));
  CHECK(close(reduce_max(x, {.axis = {0}, .keepdims = true}), {1, 3}, {3, 0.25, 2}));
  CHECK(close(reduce_min(x), {}, {-1.25}));
  CHECK(close(reduce_min(x, {.axis = {1}}), {2}, {-1.25, -0.75}));
  CHECK(close(reduce_min(x, {.axis = {0}, .keepdims = true}), {1, 3}, {0.5, -1.25, -0.75}));
  CHECK(close(reduce_prod(x), {}, {0.703125}));
  CHECK(close(reduce_prod(x, {.axis = {1}}), {2}, {-1.25, -0.5625}));
  CHECK(close(reduce_prod(x, {.axis = {0}, .keepdims = true}), {1, 3}, {1.5, -0.3125, -1.5}));
  CHECK(close(reduce_logsumexp(x), {}, {3.43933439}));
  CHECK(close(reduce_logsumexp(x, {.axis = {1}}), {2}, {2.23262191, 3.08383155}));
  CHECK(close(reduce_logsumexp(x, {.axis = {0}, .keepdims = true}), {1, 3}, {3.07888985, 0.451413333, 2.06196761}));
  CHECK(close(reduce_variance(x), {}, {2.18229175}));
  CHECK(close(reduce_variance(x, {.axis = {1}}), {2}, {1.76388896, 2.51388884}));
  CHECK(close(reduce_variance(x, {.axis = {0}, .keepdims = true}), {1, 3}, {1.5625, 0.5625, 1.890625}));
  CHECK(close(reduce_std(x), {}, {1.47725821}));
  CHECK(close(reduce_std(x, {.axis = {1}}), {2}, {1.32811487, 1.5855248}));
  CHECK(close(reduce_std(x, {.axis = {0}, .keepdims = true}), {1, 3}, {1.25, 0.75, 1.375}));
  CHECK(close(reduce_euclidean_norm(x), {}, {3.92905831}));
  CHECK(close(reduce_euclidean_norm(x, {.axis = {1}}), {2}, {2.41091275, 3.10241842}));
  CHECK(close(reduce_euclidean_norm(x, {.axis = {0}, .keepdims = true}), {1, 3}, {3.04138136, 1.27475488, 2.13600087}));
  CHECK(close(cast(count_nonzero(Tensor{1.f, 0.f, 2.f}), DType::float32), {}, {2}));
  CHECK(close(zero_fraction(Tensor{1.f, 0.f, 2.f, 0.f}), {}, {0.5}));
  CHECK(close(add_n({x, y, x}), {2, 3}, {2.5, -0.5, 3.5, 6.75, 4.5, -0.5}));
  CHECK(close(cumsum(x, {.axis = 1}), {2, 3}, {0.5, -0.75, 1.25, 3, 3.25, 2.5}));
  CHECK(close(cumsum(x, {.exclusive = true, .reverse = true}), {2, 3}, {3, 0.25, -0.75, 0, 0, 0}));
  CHECK(close(cumprod(x, {.axis = 1}), {2, 3}, {0.5, -0.625, -1.25, 3, 0.75, -0.5625}));
  CHECK(close(cumulative_logsumexp(x, {.axis = 1}), {2, 3}, {0.5, 0.66022414, 2.23262191, 3, 3.06196761, 3.08383155}));
  CHECK(close(norm(x), {}, {3.92905831}));
  CHECK(close(norm(x, {.ord = 1}), {}, {7.75}));
  CHECK(close(norm(x, {.ord = INFINITY, .axis = {1}}), {2}, {2, 3}));
  CHECK(close(norm(x, {.ord = 3, .axis = {0}, .keepdims = true}), {1, 3}, {3.0046227, 1.25332451, 2.03455591}));
  CHECK(close(norm(x, {.ord = 1, .axis = {0, 1}}), {}, {3.5}));
  CHECK(close(norm(x, {.ord = INFINITY, .axis = {0, 1}}), {}, {4}));
  CHECK(close(clip_by_value(x, Tensor(-1.f), Tensor(1.f)), {2, 3}, {0.5, -1, 1, 1, 0.25, -0.75}));
  CHECK(close(clip_by_norm(x, Tensor(1.f)), {2, 3}, {0.12725696, -0.318142384, 0.509027839, 0.763541758, 0.0636284798, -0.19088544}));
  CHECK(close(clip_by_norm(x, Tensor(1.f), {1}), {2, 3}, {0.207390338, -0.518475831, 0.829561353, 0.96698755, 0.0805822983, -0.241746888}));
  CHECK(close(global_norm({x, u}), {}, {4.06294203}));
  CHECK(close(clip_by_global_norm({x, u}, Tensor(2.f)).first[1], {3}, {0.049225416, 0.246127069, 0.443028718}));
  CHECK(close(abs(z), {2}, {2.23606801, 3.04138136}));
  CHECK(close(real(z), {2}, {1, -3}));
  CHECK(close(imag(z), {2}, {2, 0.5}));
  CHECK(close(imag(conj(z)), {2}, {-2, -0.5}));
  CHECK(close(angle(z), {2}, {1.10714877, 2.97644401}));
  CHECK(close(angle(x), {2, 3}, {0, 3.14159274, 0, 0, 0, 3.14159274}));
  CHECK(close(real(complex(u, u) * complex(u, u)), {3}, {0, 0, 0}));
  CHECK(close(matmul(x, y, {.transpose_b = true}), {2, 2}, {-2.75, -2.625, 5.375, 2.5}));
  CHECK(close(matvec(x, u), {2}, {1.2249999, -0.24999994}));
  CHECK(close(tensordot(x, y, {1}, {1}), {2, 2}, {-2.75, -2.625, 5.375, 2.5}));
  CHECK(close(tensordot(x, u, 1), {2}, {1.2249999, -0.24999994}));
  CHECK(close(segment_sum(rows, ids), {3, 2}, {4, 6, 0, 0, 5, 6}));
  CHECK(close(segment_mean(rows, ids), {3, 2}, {2, 3, 0, 0, 5, 6}));
  CHECK(close(segment_max(rows, ids), {3, 2}, {3, 4, 0, 0, 5, 6}));
  CHECK(close(segment_min(rows, ids), {3, 2}, {1, 2, 0, 0, 5, 6}));
  CHECK(close(segment_prod(rows, ids), {3, 2}, {3, 8, 1, 1, 5, 6}));
  CHECK(close(unsorted_segment_sum(rows, uns, 3), {3, 2}, {3, 4, 0, 0, 6, 8}));
  CHECK(close(unsorted_segment_max(rows, uns, 3)[Tensor{0, 2}], {2, 2}, {3, 4, 5, 6}));
  CHECK(close(unsorted_segment_min(rows, uns, 3)[Tensor{0, 2}], {2, 2}, {3, 4, 1, 2}));
  CHECK(close(unsorted_segment_prod(rows, uns, 3), {3, 2}, {3, 4, 1, 1, 5, 12}));
  CHECK(close(unsorted_segment_mean(rows, uns, 3), {3, 2}, {3, 4, 0, 0, 3, 4}));
  CHECK(close(cast(bincount(w), DType::float32), {6}, {0, 2, 0, 1, 0, 3}));
  CHECK(close(cast(bincount(w, 8), DType::float32), {8}, {0, 2, 0, 1, 0, 3, 0, 0}));
  CHECK(close(cast(bincount(w, 0, 4), DType::float32), {4}, {0, 2, 0, 1}));
  CHECK(close(cast(confusion_matrix(Tensor{0, 1, 1}, Tensor{0, 1, 2}, 3), DType::float32), {3, 3}, {1, 0, 0, 0, 1, 1, 0, 0, 0}));
  CHECK(has(message_of([] { check_numerics(Tensor{1.f, INFINITY}, "here"); }), "here : Tensor had Inf values"));
}

TEST_CASE("arrays by name") {
  CHECK(close(linspace(Tensor(0.f), Tensor(1.f), 5), {5}, {0, 0.25, 0.5, 0.75, 1}));
  CHECK(close(range(Tensor(4.f)), {4}, {0, 1, 2, 3}));
  CHECK(close(meshgrid({Tensor{1.f, 2.f, 3.f}, Tensor{4.f, 5.f}})[0], {2, 3}, {1, 2, 3, 1, 2, 3}));
  CHECK(close(meshgrid({Tensor{1.f, 2.f, 3.f}, Tensor{4.f, 5.f}})[1], {2, 3}, {4, 4, 4, 5, 5, 5}));
  CHECK(close(meshgrid({Tensor{1.f, 2.f, 3.f}, Tensor{4.f, 5.f}}, {.indexing = "ij"})[0], {3, 2}, {1, 1, 2, 2, 3, 3}));
  CHECK(close(sequence_mask(Tensor{1, 3}, 3), {2, 3}, {true, false, false, true, true, true}));
  CHECK(close(cast(size(x), DType::float32), {}, {6}));
  CHECK(close(cast(rank(x), DType::float32), {}, {2}));
  CHECK(close(repeat(x, 2, 1), {2, 6}, {0.5, 0.5, -1.25, -1.25, 2, 2, 3, 3, 0.25, 0.25, -0.75, -0.75}));
  CHECK(close(mirror_pad(u, {{1, 2}}, "REFLECT"), {6}, {0.5, 0.100000001, 0.5, 0.899999976, 0.5, 0.100000001}));
  CHECK(close(roll(x, {1}, {1}), {2, 3}, {2, 0.5, -1.25, -0.75, 3, 0.25}));
  CHECK(close(split(x, {1, 2}, 1)[1], {2, 2}, {-1.25, 2, 0.25, -0.75}));
  CHECK(close(cast(where(x > 0.f), DType::float32), {4, 2}, {0, 0, 0, 2, 1, 0, 1, 1}));
  CHECK(close(boolean_mask(x, Tensor{true, false}), {1, 3}, {0.5, -1.25, 2}));
  CHECK(close(boolean_mask(x, x > 0.f), {4}, {0.5, 2, 3, 0.25}));
  CHECK(close(gather(x, Tensor{{2, 0}, {1, 1}}, {.axis = 1, .batch_dims = 1}), {2, 2}, {2, 0.5, 0.25, 0.25}));
  CHECK(close(gather_nd(x, Tensor{{0, 2}, {1, 0}}), {2}, {2, 3}));
  CHECK(close(gather_nd(x, Tensor{{2}, {0}}, 1), {2}, {2, 3}));
  CHECK(close(scatter_nd(Tensor{{1}, {3}}, Tensor{9.f, 8.f}, {5}), {5}, {0, 9, 0, 8, 0}));
  CHECK(close(tensor_scatter_nd_update(u, Tensor{{1}, {0}}, Tensor{9.f, -8.f}), {3}, {-8, 9, 0.899999976}));
  CHECK(close(tensor_scatter_nd_add(u, Tensor{{1}, {0}}, Tensor{9.f, -8.f}), {3}, {-7.9000001, 9.5, 0.899999976}));
  CHECK(close(tensor_scatter_nd_sub(u, Tensor{{1}, {0}}, Tensor{9.f, -8.f}), {3}, {8.10000038, -8.5, 0.899999976}));
  CHECK(close(tensor_scatter_nd_max(u, Tensor{{1}, {0}}, Tensor{9.f, -8.f}), {3}, {0.100000001, 9, 0.899999976}));
  CHECK(close(tensor_scatter_nd_min(u, Tensor{{1}, {0}}, Tensor{9.f, -8.f}), {3}, {-8, 0.5, 0.899999976}));
  CHECK(close(dynamic_partition(v, Tensor{0, 1, 0, 1}, 2)[1], {2}, {1, 3}));
  CHECK(close(dynamic_stitch({Tensor{0, 2}, Tensor{1}}, {Tensor{1.f, 2.f}, Tensor{3.f}}), {3}, {1, 3, 2}));
  CHECK(close(sort(x), {2, 3}, {-1.25, 0.5, 2, -0.75, 0.25, 3}));
  CHECK(close(sort(x, {.axis = 0, .direction = "DESCENDING"}), {2, 3}, {3, 0.25, 2, 0.5, -1.25, -0.75}));
  CHECK(close(cast(argsort(v), DType::float32), {4}, {1, 2, 0, 3}));
  CHECK(close(cast(argsort(v, {.direction = "DESCENDING"}), DType::float32), {4}, {0, 3, 2, 1}));
  CHECK(close(cast(sort(w), DType::float32), {6}, {1, 1, 3, 5, 5, 5}));
  CHECK(close(top_k(v, 2).values, {2}, {3, 3}));
  CHECK(close(cast(searchsorted(Tensor{1.f, 3.f, 5.f}, Tensor{0.f, 3.f, 9.f}), DType::float32), {3}, {0, 1, 3}));
  CHECK(close(cast(searchsorted(Tensor{1.f, 3.f, 5.f}, Tensor{0.f, 3.f, 9.f}, "right"), DType::float32), {3}, {0, 2, 3}));
  CHECK(close(unique(v).y, {3}, {3, 1, 2}));
  CHECK(close(cast(unique_with_counts(v).count, DType::float32), {3}, {2, 1, 1}));
  CHECK(close(cast(saturate_cast(Tensor{-5.f, 300.f, 7.f}, DType::uint8), DType::float32), {3}, {0, 255, 7}));
  CHECK(close(cast(bitcast(Tensor{1.f}, DType::int32), DType::float32), {1}, {1.06535322e+09}));
  CHECK(identity(Tensor("a")).item<std::string>() == "a");
  CHECK(has(message_of([] { ensure_shape(Tensor{1.f}, {2}); }), "is not compatible with expected shape"));
  CHECK(has(message_of([] { sort(u, {.direction = "UP"}); }), "direction must be"));
}

TEST_CASE("matrices by name") {
  CHECK(close(linalg::diag(u), {3, 3}, {0.100000001, 0, 0, 0, 0.5, 0, 0, 0, 0.899999976}));
  CHECK(close(linalg::diag(u, 1), {4, 4}, {0, 0.100000001, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.899999976, 0, 0, 0, 0}));
  CHECK(close(linalg::diag_part(x), {2}, {0.5, 0.25}));
  CHECK(close(linalg::diag_part(x, 1), {2}, {-1.25, -0.75}));
  CHECK(close(linalg::set_diag(x, Tensor{9.f, 8.f}), {2, 3}, {9, -1.25, 2, 3, 8, -0.75}));
  CHECK(close(linalg::band_part(rows, 0, -1), {3, 2}, {1, 2, 0, 4, 0, 0}));
  CHECK(close(linalg::trace(A), {}, {7}));
  CHECK(close(linalg::matrix_transpose(x), {3, 2}, {0.5, 3, -1.25, 0.25, 2, -0.75}));
  CHECK(close(linalg::cross(u, Tensor{1.f, 2.f, 3.f}), {3}, {-0.299999952, 0.599999964, -0.300000012}));
  CHECK(close(linalg::det(A), {}, {10}));
  CHECK(close(linalg::slogdet(A).log_abs_determinant, {}, {2.30258512}));
  CHECK(close(linalg::logdet(S), {}, {1.60943794}));
  CHECK(close(linalg::inv(A), {2, 2}, {0.300000012, -0.100000001, -0.200000003, 0.400000006}));
  CHECK(close(linalg::solve(A, rows[{slice(0, 2)}]), {2, 2}, {0, 0.199999988, 1, 1.20000005}));
  CHECK(close(linalg::triangular_solve(A, rows[{slice(0, 2)}]), {2, 2}, {0.25, 0.5, 0.833333373, 1}));
  CHECK(close(linalg::lstsq(rows, Tensor{{1.f}, {2.f}, {2.f}}), {2, 1}, {-0.666654885, 0.916657388}));
  CHECK(close(linalg::cholesky(S), {2, 2}, {1.41421354, 0, 0.707106769, 1.58113885}));
  CHECK(close(linalg::svd(A).s, {2}, {5.11667299, 1.95439506}));
  CHECK(close(linalg::eigvalsh(S), {2}, {1.38196588, 3.61803341}));
  CHECK(close(linalg::eigh(S).values, {2}, {1.38196588, 3.61803341}));
  CHECK(close(abs(linalg::qr(A).r), {2, 2}, {4.47213602, 2.23606801, 0, 2.23606801}));
  const auto s = linalg::svd(A);
  CHECK(close(matmul(s.u, matmul(linalg::diag(s.s), s.v, {.transpose_b = true})), {2, 2}, {4, 1, 2, 3}));
}

TEST_CASE("images by name") {
  const Tensor im = reshape(range(Tensor(12.f)), {2, 2, 3}), im8 = cast(reshape(range(Tensor(12)) * 20, {2, 2, 3}), DType::uint8);
  CHECK(close(image::resize(im, {3, 1}), {3, 1, 3}, {1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5}));
  CHECK(close(image::resize(im, {1, 3}, {.method = "nearest"}), {1, 3, 3}, {6, 7, 8, 9, 10, 11, 9, 10, 11}));
  CHECK(close(image::resize(im, {1, 3}, {.method = "bicubic"}), {1, 3, 3},
              {2.80233312, 3.80233312, 4.80233335, 4.5, 5.5, 6.5, 6.19766569, 7.19766569, 8.19766617}));
  CHECK(close(image::resize(im, {1, 3}, {.method = "area"}), {1, 3, 3}, {3, 4, 5, 4.50000048, 5.50000048, 6.5, 5.99999952, 6.99999905, 7.99999952}));
  CHECK(close(image::resize(im, {1, 3}, {.method = "lanczos3"}), {1, 3, 3},
              {2.62755275, 3.62755251, 4.62755251, 4.49999905, 5.49999905, 6.49999905, 6.37244654, 7.37244654, 8.37244606}));
  CHECK(close(image::resize(im, {1, 1}, {.antialias = true}), {1, 1, 3}, {4.5, 5.5, 6.5}));
  CHECK(close(image::convert_image_dtype(im8, DType::float32), {2, 2, 3},
              {0, 0.0784313753, 0.156862751, 0.235294133, 0.313725501, 0.392156899, 0.470588267, 0.549019635, 0.627451003, 0.70588237, 0.784313798,
               0.862745166}));
  CHECK(close(cast(image::convert_image_dtype(im / 20.f, DType::uint8, true), DType::float32), {2, 2, 3},
              {0, 12, 25, 38, 51, 63, 76, 89, 102, 114, 127, 140}));
  CHECK(close(cast(image::convert_image_dtype(im8, DType::uint16), DType::float32), {2, 2, 3},
              {0, 5120, 10240, 15360, 20480, 25600, 30720, 35840, 40960, 46080, 51200, 56320}));
  CHECK(close(image::adjust_contrast(im, 0.5), {2, 2, 3}, {2.25, 3.25, 4.25, 3.75, 4.75, 5.75, 5.25, 6.25, 7.25, 6.75, 7.75, 8.75}));
  CHECK(close(cast(image::adjust_contrast(im8, 2.), DType::float32), {2, 2, 3}, {0, 0, 0, 30, 50, 70, 150, 170, 190, 255, 255, 255}));
  CHECK(close(image::adjust_brightness(im, 0.25), {2, 2, 3}, {0.25, 1.25, 2.25, 3.25, 4.25, 5.25, 6.25, 7.25, 8.25, 9.25, 10.25, 11.25}));
  CHECK(close(image::rgb_to_grayscale(im), {2, 2, 1}, {0.814999998, 3.81469989, 6.8144002, 9.81410027}));
  CHECK(close(image::flip_left_right(im), {2, 2, 3}, {3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8}));
  CHECK(close(image::flip_up_down(im), {2, 2, 3}, {6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5}));
  CHECK(image::decode_png(image::encode_png(im8)).to_vector<uint8_t>() == im8.to_vector<uint8_t>());
  CHECK(image::decode_jpeg(image::encode_jpeg(im8, 100)).shape() == std::vector<int64_t>{2, 2, 3});
  CHECK(has(message_of([&] { image::resize(im, {1, 1}, {.method = "magic"}); }), "resize method is not implemented: magic"));
}

TEST_CASE("strings by name") {
  const Tensor s{"Hello", " World "};
  CHECK(strings::join({s, Tensor("x")}, "-").strings() == std::vector<std::string>{"Hello-x", " World -x"});
  CHECK(strings::reduce_join(s).item<std::string>() == "Hello World ");
  CHECK(strings::length(s).to_vector<int32_t>() == std::vector<int32_t>{5, 7});
  CHECK(strings::substr(s, Tensor(1), Tensor(3)).strings() == std::vector<std::string>{"ell", "Wor"});
  CHECK(strings::lower(s).strings()[0] == "hello");
  CHECK(strings::upper(s).strings()[0] == "HELLO");
  CHECK(strings::strip(s).strings()[1] == "World");
  CHECK(strings::as_string(Tensor{1.5f}, {.precision = 2}).strings()[0] == "1.50");
  CHECK(strings::to_number(Tensor{"2.5"}).item<float>() == 2.5f);
  CHECK(strings::to_hash_bucket_fast(Tensor{"Hello", "TensorFlow", "2.x"}, 3).to_vector<int64_t>() == std::vector<int64_t>{0, 2, 2});
  CHECK(strings::regex_replace(s, "l+", "L").strings()[0] == "HeLo");
  CHECK(strings::regex_full_match(s, "H.*").to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(decode_raw(Tensor("\x01\x02"), DType::uint8).to_vector<uint8_t>() == std::vector<uint8_t>{1, 2});
}

TEST_CASE("random numbers of seeds are TensorFlow's") {
  const auto g = random::Generator::from_seed(42);
  CHECK(close(g.normal({4}), {4}, {-0.7565803, -0.06854702, 0.07595026, -1.2573844}));
  CHECK(close(g.uniform({3}), {3}, {0.876197, 0.49066722, 0.39786613}));
  CHECK(close(g.truncated_normal({2}), {2}, {-0.28565946, 0.25719965}));
  CHECK(g.uniform({4}, {.maxval = 100, .dtype = DType::int32}).to_vector<int32_t>() == std::vector<int32_t>{67, 88, 54, 10});
  CHECK(g.state().value().to_vector<int64_t>() == std::vector<int64_t>{3370, 0, 0});
  g.reset_from_seed(42);
  CHECK(close(function([&] { return g.normal({4}); })(), {4}, {-0.7565803, -0.06854702, 0.07595026, -1.2573844}));
  const Tensor seed{1, 2};
  CHECK(close(random::stateless_normal({3}, seed), {3}, {0.5441101, 0.20738031, 0.07356432}));
  CHECK(close(random::stateless_uniform({3}, seed, {.maxval = 10}), {3}, {8.440604, 1.9204533, 9.962233}));
  CHECK(random::stateless_uniform({3}, seed, {.maxval = 10, .dtype = DType::int32}).to_vector<int32_t>() == std::vector<int32_t>{0, 9, 4});
  CHECK(close(random::stateless_truncated_normal({2}, Tensor{3, 4}, {.mean = 1, .stddev = 2}), {2}, {0.65213233, 4.3447094}));
  CHECK(close(random::normal({3}, {.seed = 5}), {3}, {-1.1780828, -0.7099414, -1.748158}));
  CHECK(close(random::uniform({3}, {.minval = 2, .maxval = 3, .seed = 5}), {3}, {2.3883114, 2.663683, 2.1919107}));
  CHECK(random::uniform({3}, {.maxval = 50, .dtype = DType::int64, .seed = 7}).to_vector<int64_t>() == std::vector<int64_t>{39, 49, 38});
  CHECK(random::shuffle(range(Tensor(6)), 3).to_vector<int32_t>() == std::vector<int32_t>{5, 4, 2, 0, 3, 1});
  CHECK(close(random::truncated_normal({2}, {.seed = 9}), {2}, {1.1550728, -0.4910573}));
  CHECK(random::categorical(Tensor{{1.f, 2.f, 3.f}}, 5, 11).to_vector<int64_t>() == std::vector<int64_t>{2, 0, 1, 1, 1});
  random::set_seed(3);
  const Floats first = values(random::normal({4}));
  const Floats second = values(random::normal({4}));
  CHECK(first != second);
  CHECK(has(message_of([] { random::uniform({1}, {.dtype = DType::int32}); }), "Must specify maxval for integer dtype int32"));
}
