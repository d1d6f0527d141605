// Closes what isa_begin.h opened.
}  // namespace weft_engine::kernels::WEFT_ISA

#if defined(WEFT_ISA_AVX512) || defined(WEFT_ISA_AVX2)
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#undef WEFT_ISA
