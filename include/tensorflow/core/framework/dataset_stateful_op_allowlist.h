// SPDX-License-Identifier: Apache-2.0
//
// Names of stateful ops that datasets' functions may have. Here they may have all: the macros add nothing.
#ifndef TENSORFLOW_CORE_FRAMEWORK_DATASET_STATEFUL_OP_ALLOWLIST_H_
#define TENSORFLOW_CORE_FRAMEWORK_DATASET_STATEFUL_OP_ALLOWLIST_H_

#define ALLOW_STATEFUL_OP_FOR_DATASET_FUNCTIONS(name) static_assert(sizeof(name) > 1, "the name of an op")
#define WHITELIST_STATEFUL_OP_FOR_DATASET_FUNCTIONS(name) ALLOW_STATEFUL_OP_FOR_DATASET_FUNCTIONS(name)

#endif  // TENSORFLOW_CORE_FRAMEWORK_DATASET_STATEFUL_OP_ALLOWLIST_H_
