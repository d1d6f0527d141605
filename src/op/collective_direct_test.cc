// Small reductions of members that know the direct exchange: the bits of the ring, with fewer messages.
#include <doctest/doctest.h>

#include <cstring>
#include <future>

#include "op/collective.h"

namespace weft_engine::op {
namespace {

struct KnownGroup final : CollectiveParamResolver {
  explicit KnownGroup(std::shared_ptr<const CollectiveMembers> m) : members(std::move(m)) {}
  void complete_group_async(const CollectiveGroup&, CancellationManager*, GroupDone done) override { done({}, members); }
  void complete_instance_async(const CollectiveParams&, const CollectiveMembers&, InstanceDone done) override { done({}, -1); }
  void start_abort(const Status&) override {}
  const std::shared_ptr<const CollectiveMembers> members;
};

struct CountingAccess final : CollectiveRemoteAccess {
  explicit CountingAccess(int* n) : sent(n) {}
  void send(const std::string& to, const std::string& key, Tensor value, int64_t run, Taken taken) override {
    ++*sent;
    inner->send(to, key, std::move(value), run, std::move(taken));
  }
  void recv_async(const std::string& from, const std::string& key, DType dtype, const Shape& shape, int64_t run, Done done) override {
    inner->recv_async(from, key, dtype, shape, run, std::move(done));
  }
  void retract(int64_t run) override { inner->retract(run); }
  void start_abort(const Status& s) override { inner->start_abort(s); }
  const std::unique_ptr<CollectiveRemoteAccess> inner = make_local_access();
  int* const sent;
};

// Not commutative for numbers that differ in the last bits: the order of the ring shows.
Result<Tensor> merged(const Tensor& own, const Tensor& received) {
  Tensor out = Tensor::allocate(own.dtype(), own.shape()).value();
  for (int64_t i = 0; i < own.num_elements(); ++i) out.data<float>()[i] = own.data<float>()[i] * 1.0001f + received.data<float>()[i];
  return out;
}

// The results of all members, and how many messages they sent.
std::pair<std::vector<std::vector<float>>, int> reduced(int members, int64_t elements, bool direct) {
  auto group = std::make_shared<CollectiveMembers>();
  for (int i = 0; i < members; ++i) {
    group->devices.push_back(cat("/job:worker/replica:0/task:", i, "/device:CPU:0"));
    group->ranks.push_back(i);
  }
  group->direct = direct;
  int sent = 0;
  auto executor = std::make_shared<CollectiveExecutor>(std::make_unique<KnownGroup>(group), std::make_unique<CountingAccess>(&sent));
  std::vector<std::vector<float>> results(static_cast<size_t>(members));
  for (int i = 0; i < members; ++i) {
    CollectiveParams p;
    p.group = {1, members, -1, group->devices[size_t(i)]};
    p.dtype = DType::kFloat;
    p.shape = Shape({elements});
    p.merge = merged;
    Tensor x = Tensor::allocate(DType::kFloat, p.shape).value();
    for (int64_t k = 0; k < elements; ++k) x.data<float>()[k] = 1.0f / float(1 + k * 7 + i * 13);
    executor->run_async(std::move(p), x, nullptr, [&, i](const Status& s, const Tensor& t) {
      if (s.ok()) results[size_t(i)].assign(t.data<float>(), t.data<float>() + t.num_elements());
    });
  }
  return {results, sent};
}

}  // namespace

TEST_CASE("a direct exchange has the bits of the ring") {
  for (int members : {2, 3, 4, 7}) {
    for (int64_t elements : {1, 5, 256, 5000, 100000}) {
      CAPTURE(members);
      CAPTURE(elements);
      const auto [ring, ring_sent] = reduced(members, elements, false);
      const auto [direct, direct_sent] = reduced(members, elements, true);
      for (int i = 0; i < members; ++i) {
        REQUIRE(direct[size_t(i)].size() == size_t(elements));
        CHECK(std::memcmp(direct[size_t(i)].data(), ring[size_t(i)].data(), size_t(elements) * sizeof(float)) == 0);
      }
      if (elements == 256) {
        CHECK(ring_sent > direct_sent);
        CHECK(direct_sent == members * (members - 1));
      }
    }
  }
}

}  // namespace weft_engine::op
