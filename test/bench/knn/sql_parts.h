#pragma once

#include "sql_options.h"

// The measurements of knn_sql_bench: each makes the tables that are missing and prints a markdown table.
namespace stoa::bench {

void MakeTables(const Options& options);  // only what the others would make before they measure
void MakeThreeWayTables(const Options& options);
void MakeFreshRowsTables(const Options& options);
void MakeMergeTables(const Options& options);
void RunThreeWay(const Options& options);   // row-wise, columnar mmap and columnar file, side by side
void RunFreshRows(const Options& options);  // with and without a tenth of the rows in RAM
void RunMerge(const Options& options);      // a small chunk into a large one, beside building the graph anew
void RunOverhead(const Options& options);   // what a statement costs beside the search
void RunCold(const Options& options);       // no page of a vector in memory

}  // namespace stoa::bench
