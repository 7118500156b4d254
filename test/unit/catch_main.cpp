#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdio>

namespace {

// The last line of every test program, which test/run.sh adds up.
struct SumLine : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testRunEnded(const Catch::TestRunStats& run) override {
    const Catch::Counts& cases = run.totals.testCases;
    std::printf("%zu passed, %zu failed\n", cases.passed, cases.failed);
  }
};

}  // namespace

CATCH_REGISTER_LISTENER(SumLine)
