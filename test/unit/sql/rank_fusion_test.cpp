#include <catch2/catch.hpp>

#include "sql/exec/rank_fusion.h"

namespace stoa::sql {
namespace {

RowRef Row(uint32_t part, uint32_t row) { return {part, RowId(row)}; }

TEST_CASE("a row's score is the sum over the lists that hold it", "[sql]") {
  const std::vector<RankedList> lists = {{{Row(1, 5), Row(0, 7)}, 1},
                                         {{Row(0, 7), Row(0, 2), Row(1, 5)}, 0.5}};
  const std::vector<FusedRow> fused = FuseByReciprocalRank(lists, 60);
  REQUIRE(fused.size() == 3);
  CHECK(fused[0].row == Row(0, 2));
  CHECK(fused[0].score == static_cast<float>(0.5 / 62));
  CHECK(fused[1].row == Row(0, 7));
  CHECK(fused[1].score == static_cast<float>(1.0 / 62 + 0.5 / 61));
  CHECK(fused[2].row == Row(1, 5));
  CHECK(fused[2].score == static_cast<float>(1.0 / 61 + 0.5 / 63));
}

TEST_CASE("rows with the same ranks in other lists have equal scores", "[sql]") {
  // Ranks 1, 2, 3 in every order; row 3 is last of each.
  const RowRef a = Row(0, 0);
  const RowRef b = Row(0, 1);
  const RowRef c = Row(0, 2);
  for (const uint64_t constant : {0, 1, 10, 60, 1000}) {
    const std::vector<RankedList> lists = {{{a, b, c}, 1}, {{b, c, a}, 1}, {{c, a, b}, 1}};
    const std::vector<FusedRow> fused = FuseByReciprocalRank(lists, constant);
    REQUIRE(fused.size() == 3);
    CHECK(fused[0].score == fused[1].score);
    CHECK(fused[1].score == fused[2].score);
  }
}

TEST_CASE("a list of weight 0 brings its rows, empty lists bring none", "[sql]") {
  CHECK(FuseByReciprocalRank({}, 60).empty());
  const std::vector<RankedList> lists = {{{}, 1}, {{Row(2, 3)}, 0}};
  const std::vector<FusedRow> fused = FuseByReciprocalRank(lists, 60);
  REQUIRE(fused.size() == 1);
  CHECK(fused[0].row == Row(2, 3));
  CHECK(fused[0].score == 0);
}

}  // namespace
}  // namespace stoa::sql
