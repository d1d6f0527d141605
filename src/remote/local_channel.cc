#include "remote/local_channel.h"

#include <chrono>
#include <condition_variable>

#include "remote/call_link.h"
#include "remote/settings.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::remote {
namespace {

class LinkedChannel final : public Channel, public std::enable_shared_from_this<LinkedChannel> {
 public:
  explicit LinkedChannel(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  ~LinkedChannel() override {
    if (link_) link_->close_when_idle();
  }

  std::shared_ptr<ClientCall> call(std::string_view method, Message request, double seconds, bool wait, Reply reply) override {
    const auto link = this->link();
    if (link && seconds == 0 && !wait) {
      if (auto call = link->call(method, request, reply)) return call;
    }
    return channel_->call(method, std::move(request), seconds, wait, std::move(reply));
  }

  std::shared_ptr<ClientStream> stream(std::string_view method, ClientStream::Events events) override {
    if (const auto link = this->link()) {
      if (auto stream = link->stream(method, events)) return stream;
    }
    return channel_->stream(method, std::move(events));
  }

  void prepare(double seconds) override {
    {
      std::lock_guard lock(mutex_);
      not_before_ = {};
    }
    if (link()) return;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !asking_; });
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Null: there is none, or not yet.
  std::shared_ptr<CallLink> link() {
    {
      std::lock_guard lock(mutex_);
      if (link_ && link_->is_open()) return link_;
      link_ = nullptr;
      if (asking_ || Clock::now() < not_before_) return nullptr;
      asking_ = true;
    }
    constexpr double kSeconds = 10;
    channel_->call(kOfferCalls, Message(), kSeconds, false, [weak = weak_from_this()](Status s, Message response) {
      // Connecting may wait for the other side's listener: not on a thread of the transport.
      runtime::run_on_blocking_thread([weak, s = std::move(s), response = std::move(response)]() mutable {
        if (const auto self = weak.lock()) self->offered(s, std::move(response));
      });
    });
    return nullptr;
  }

  void offered(const Status& status, Message response) {
    std::shared_ptr<CallLink> link;
    if (status.ok()) {
      const auto offer = decode_link_offer(response.flatten());
      if (offer.ok()) {
        // Fails on another machine, or in another container.
        if (auto made = CallLink::connect(offer->name, offer->secret); made.ok()) link = std::move(made).value();
      }
    }
    // A server that does not answer yet may be there soon; one that has no links will hardly get them.
    const Code code = status.code();
    const bool soon = status.ok() || code == Code::kUnavailable || code == Code::kDeadlineExceeded || code == Code::kCancelled;
    const auto again = std::chrono::seconds(soon ? 2 : 300);
    std::lock_guard lock(mutex_);
    link_ = std::move(link);
    asking_ = false;
    not_before_ = Clock::now() + again;
    changed_.notify_all();
  }

  const std::shared_ptr<Channel> channel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<CallLink> link_;
  bool asking_ = false;
  Clock::time_point not_before_;
};

// The service with one method more.
class OfferingService final : public Service {
 public:
  explicit OfferingService(Service& service) : service_(service), calls_(std::make_shared<ServedCalls>(service)) {}
  ServedCalls& calls() { return *calls_; }

  void call(std::string_view method, Message request, Reply reply, const OnAbandoned& on_abandoned, const RunOn& run_on) override {
    if (method != kOfferCalls) return service_.call(method, std::move(request), std::move(reply), on_abandoned, run_on);
    auto offer = calls_->offer();
    if (offer.ok()) reply({}, std::move(offer).value());
    else reply(offer.status(), {});
  }
  std::unique_ptr<StreamHandler> stream(std::string_view method, std::shared_ptr<ServerStream> stream, const RunOn& run_on) override {
    return service_.stream(method, std::move(stream), run_on);
  }
  bool is_stream(std::string_view method) const override { return service_.is_stream(method); }

 private:
  Service& service_;
  const std::shared_ptr<ServedCalls> calls_;
};

class ListenerWithLinks final : public Listener {
 public:
  explicit ListenerWithLinks(Service& service) : service_(service) {}
  ~ListenerWithLinks() override { stop(); }
  Status start(const std::function<Result<std::unique_ptr<Listener>>(Service&)>& listen) {
    WEFT_ASSIGN(listener_, listen(service_));
    return {};
  }
  int port() const override { return listener_->port(); }
  void stop() override {
    service_.calls().close();
    if (listener_) listener_->stop();
  }

 private:
  OfferingService service_;
  std::unique_ptr<Listener> listener_;  // goes first
};

bool links_wanted() { return settings().ok() && settings()->local_links; }

}  // namespace

std::shared_ptr<Channel> with_link(std::shared_ptr<Channel> channel) {
  return links_wanted() ? std::make_shared<LinkedChannel>(std::move(channel)) : std::move(channel);
}

Result<std::unique_ptr<Listener>> listen_with_links(Service& service, const std::function<Result<std::unique_ptr<Listener>>(Service&)>& listen) {
  if (!links_wanted() || settings()->max_streams > 0) return listen(service);  // with a limit calls wait for each other, which links do not know
  auto made = std::make_unique<ListenerWithLinks>(service);
  WEFT_RETURN_IF_ERROR(made->start(listen));
  return std::unique_ptr<Listener>(std::move(made));
}

}  // namespace weft_engine::remote
