// SPDX-License-Identifier: Apache-2.0
//
// Hints for compilers, and the notes on locks that clang reads and others skip.
#ifndef TENSORFLOW_CORE_PLATFORM_MACROS_H_
#define TENSORFLOW_CORE_PLATFORM_MACROS_H_

#define TF_ATTRIBUTE_NORETURN __attribute__((noreturn))
#define TF_ATTRIBUTE_ALWAYS_INLINE __attribute__((always_inline))
#define TF_ATTRIBUTE_NOINLINE __attribute__((noinline))
#define TF_ATTRIBUTE_UNUSED __attribute__((unused))
#define TF_ATTRIBUTE_COLD __attribute__((cold))
#define TF_ATTRIBUTE_WEAK __attribute__((weak))
#define TF_MUST_USE_RESULT __attribute__((warn_unused_result))
#define TF_PACKED __attribute__((packed))
#define TF_EXPORT __attribute__((visibility("default")))
#define TF_PREDICT_FALSE(x) (__builtin_expect(static_cast<bool>(x), 0))
#define TF_PREDICT_TRUE(x) (__builtin_expect(static_cast<bool>(x), 1))
#define TF_FALLTHROUGH_INTENDED [[fallthrough]]
#define TF_ARRAYSIZE(a) (sizeof(a) / sizeof(*(a)))
#define TF_DISALLOW_COPY_AND_ASSIGN(TypeName) \
  TypeName(const TypeName&) = delete;         \
  void operator=(const TypeName&) = delete

#define TF_GUARDED_BY(x)
#define TF_PT_GUARDED_BY(x)
#define TF_ACQUIRED_AFTER(...)
#define TF_ACQUIRED_BEFORE(...)
#define TF_EXCLUSIVE_LOCKS_REQUIRED(...)
#define TF_SHARED_LOCKS_REQUIRED(...)
#define TF_LOCKS_EXCLUDED(...)
#define TF_LOCK_RETURNED(x)
#define TF_NO_THREAD_SAFETY_ANALYSIS
#ifndef GUARDED_BY
#define GUARDED_BY(x)
#endif
#ifndef EXCLUSIVE_LOCKS_REQUIRED
#define EXCLUSIVE_LOCKS_REQUIRED(...)
#endif
#ifndef LOCKS_EXCLUDED
#define LOCKS_EXCLUDED(...)
#endif

// From TensorFlow 2.10 on, what is below lib and platform is in a namespace of its own, which tensorflow refers to; here it is the other way round.
namespace tensorflow {}
namespace tsl {
using namespace ::tensorflow;  // NOLINT
}

#endif  // TENSORFLOW_CORE_PLATFORM_MACROS_H_
