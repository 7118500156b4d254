#pragma once

#include <hwy/targets.h>
#include <catch2/catch.hpp>

namespace stoa::knn {

// Runs `test` with every instruction set that this machine and this build have.
template <typename Test>
void OnEveryTarget(const Test& test) {
  for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    INFO("instruction set " << hwy::TargetName(left & -left));
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace stoa::knn
