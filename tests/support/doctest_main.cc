// The main function of the unit tests, and the part of doctest behind its macros: compiled once.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
