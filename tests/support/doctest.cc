// The part of doctest behind its macros: compiled once.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
