#include <array>

#include "sql/sql_error.h"
#include "sql/statements/show_rows.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

using Maker = Result<ShowRows> (*)(const ShowStatement&, StatementContext&);

struct Subject {
  std::string_view what;
  Maker make;
};

constexpr auto kSubjects = std::to_array<Subject>({
    {"tables", ShowTables},
    {"full tables", ShowTables},
    {"table status", ShowTables},
    {"open tables", ShowTables},
    {"databases", ShowTables},
    {"analyze table", ShowTables},
    {"check table", ShowTables},
    {"checksum table", ShowTables},
    {"repair table", ShowTables},
    {"describe", ShowColumns},
    {"columns", ShowColumns},
    {"full columns", ShowColumns},
    {"index", ShowColumns},
    {"table_status_of", ShowTableDetails},
    {"table_settings", ShowTableDetails},
    {"table_indexes", ShowTableDetails},
    {"create table", ShowCreate},
    {"create database", ShowCreate},
    {"create other", ShowCreate},
    {"variables", ShowServer},
    {"status", ShowServer},
    {"settings", ShowServer},
    {"version", ShowServer},
    {"processlist", ShowServer},
    {"full processlist", ShowServer},
    {"threads", ShowServer},
    {"queries", ShowServer},
    {"grants", ShowServer},
    {"locks", ShowServer},
    {"agent status", ShowServer},
    {"meta", ShowSession},
    {"profile", ShowSession},
    {"warnings", ShowSession},
    {"errors", ShowSession},
    {"count warnings", ShowSession},
    {"count errors", ShowSession},
});

Result<ShowRows> MakeRows(const ShowStatement& show, StatementContext& context) {
  for (const Subject& subject : kSubjects) {
    if (subject.what == show.what) {
      return subject.make(show, context);
    }
  }
  return ShowFixed(show);
}

}  // namespace

Status ExecuteShow(const ShowStatement& statement, StatementContext& context) {
  ASSIGN_OR_RETURN(ShowRows answer, MakeRows(statement, context));
  RETURN_IF_ERROR(FilterShowRows(statement, answer));
  return SendRows(context, answer.names, answer.rows);
}

}  // namespace stoa::sql
