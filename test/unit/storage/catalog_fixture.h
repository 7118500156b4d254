#pragma once

#include <catch2/catch.hpp>
#include <memory>

#include "storage/base/clock.h"
#include "storage/base/faulty_env.h"
#include "storage/base/memory_env.h"
#include "storage/table/catalog.h"

namespace stoa::storage::testing {

class FixedClock : public Clock {
 public:
  int64_t UnixMicros() const override { return 1'700'000'000'000'000; }
};

// A data folder in memory whose catalog can be closed, crashed and opened. Start() has to be called first.
struct CatalogInMemory {
  MemoryEnv memory;
  FaultyEnv env{memory};
  FixedClock clock;
  StorageOptions options;
  std::unique_ptr<Catalog> catalog;

  CatalogInMemory() { options.data_dir = "/data"; }
  void Start() {
    auto opened = Catalog::Open(options, env, clock);
    REQUIRE(opened.status().ToString() == "ok");
    catalog = std::move(opened).value();
  }
  // Power cut, then start.
  void Crash() {
    catalog.reset();
    REQUIRE(env.DropUnsynced().ok());
    Start();
  }
  void Restart() {
    REQUIRE(catalog->Close().ToString() == "ok");
    catalog.reset();
    Start();
  }
};

}  // namespace stoa::storage::testing
