// Who has a link to whom: a task is asked, by a call, whether it offers one; then the link takes the place of calls.
#include "remote/call_link.h"
#include "remote/collective_group.h"

namespace weft_engine::remote {
namespace {

constexpr std::string_view kOpen = "/weft.LinkService/Open";
constexpr int64_t kNoRun = -1;

}  // namespace

std::shared_ptr<LocalLink> LocalLinks::find(const std::string& task, Channel& channel) {
  if (!settings().ok() || !settings()->local_links) return nullptr;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return nullptr;
    const auto [it, fresh] = links_.emplace(task, nullptr);
    if (!fresh) return it->second && it->second->is_open() ? it->second : nullptr;
  }
  // Until it is there calls do.
  calls_->call(channel, kOpen, Message(), /*wait=*/false, kNoRun, [weak = weak_from_this(), task](Status s, Message response) {
    const auto self = weak.lock();
    if (!self || !s.ok()) return;
    const auto offer = decode_link_offer(response.flatten());
    if (!offer.ok()) return;
    auto link = LocalLink::connect(offer->name, offer->secret);  // fails on another machine, or in another container
    if (!link.ok()) return;
    std::unique_lock lock(self->mutex_);
    if (!self->stopped_) {
      self->links_[task] = *link;
      return;
    }
    lock.unlock();
    (*link)->close();
  });
  return nullptr;
}

std::vector<std::shared_ptr<LocalLink>> LocalLinks::all() {
  std::vector<std::shared_ptr<LocalLink>> out;
  std::lock_guard lock(mutex_);
  if (listener_) {
    for (const auto& c : listener_->connections()) out.push_back(std::static_pointer_cast<LocalLink>(c));
  }
  for (const auto& [task, link] : links_) {
    if (link && link->is_open()) out.push_back(link);
  }
  return out;
}

Result<Message> LocalLinks::offer(LocalLink::Handler handler) {
  if (settings().ok() && !settings()->local_links) return unimplemented("this task has no links");
  std::shared_ptr<LocalListener> listener;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return cancelled("the server has stopped");
    if (!listener_) {
      WEFT_ASSIGN(listener_, LocalLink::listen(std::move(handler)));
    }
    listener = listener_;
  }
  return encode_link_offer({listener->name(), listener->secret()});
}

void LocalLinks::stop() {
  std::map<std::string, std::shared_ptr<LocalLink>> links;
  std::shared_ptr<LocalListener> listener;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    links.swap(links_);
    listener.swap(listener_);
  }
  for (auto& [task, link] : links) {
    if (link) link->close();
  }
}

}  // namespace weft_engine::remote
