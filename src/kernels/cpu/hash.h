// The string hashes whose values TensorFlow promises: files, vocabularies and trained embeddings depend
// on them, so they may never change.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace weft_engine::kernels {

// FarmHash's Fingerprint64, stable over machines and versions.
uint64_t fingerprint64(std::string_view s);

// FarmHash's Fingerprint128: the lower and the upper half.
std::pair<uint64_t, uint64_t> fingerprint128(std::string_view s);

// One fingerprint from two, in order.
uint64_t fingerprint_cat64(uint64_t a, uint64_t b);

// SipHash-2-4 with a 128-bit key: buckets that an attacker cannot aim at.
uint64_t sip_hash(uint64_t key0, uint64_t key1, std::string_view s);

}  // namespace weft_engine::kernels
