#include "remote/transport.h"

#include "wire/proto.h"

namespace weft_engine::remote {

void Message::append(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const std::string_view view = *owner;
  append(view, std::move(owner));
}

void Message::append(std::string_view bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  pieces_.push_back({bytes, std::move(owner), nullptr});
}

void Message::append(RefPtr<Buffer> buffer) {
  if (!buffer || buffer->size() == 0) return;
  size_ += buffer->size();
  const std::string_view bytes(static_cast<const char*>(buffer->data()), buffer->size());
  pieces_.push_back({bytes, nullptr, std::move(buffer)});
}

void Message::append(Message other) {
  size_ += other.size_;
  if (pieces_.empty()) {
    pieces_ = std::move(other.pieces_);
    return;
  }
  for (Piece& p : other.pieces_) pieces_.push_back(std::move(p));
}

void Message::append_field(int field, Message value) {
  wire::ProtoWriter head;
  head.raw_varint(uint64_t(field) << 3 | 2);
  head.raw_varint(value.size());
  append(head.take());
  append(std::move(value));
}

std::string_view Message::flatten() {
  if (pieces_.empty()) return {};
  if (pieces_.size() > 1) {
    std::string all;
    all.reserve(size_);
    for (const Piece& p : pieces_) all.append(p.bytes);
    *this = Message(std::move(all));
  }
  return pieces_[0].bytes;
}

}  // namespace weft_engine::remote
