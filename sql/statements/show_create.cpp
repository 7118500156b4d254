#include "sql/session/system_variables.h"
#include "sql/sql_error.h"
#include "sql/statements/show_rows.h"
#include "sql/statements/statements.h"

namespace stoa::sql {
namespace {

// SET sql_quote_show_create=1 asks for back-quotes around every name; unset, only names that need them have
// some.
bool QuotesNames(const Session::State& session) {
  const auto set = session.variables.find("sql_quote_show_create");
  return set != session.variables.end() && set->second == "1";
}

}  // namespace

// SHOW CREATE TABLE | DATABASE | VIEW ….
Result<ShowRows> ShowCreate(const ShowStatement& show, StatementContext& context) {
  if (show.what == "create database") {
    ShowRows answer({"Database", "Create Database"});
    if (!IsMainDatabase(show.argument) && show.argument != "information_schema") {
      return NoSuchDatabase(show.argument);
    }
    const std::string_view name = DatabaseTitle(show.argument);
    answer.Add({name, fmt::format("CREATE DATABASE `{}` /*!40100 DEFAULT CHARACTER SET utf8mb4 */", name)});
    return answer;
  }
  if (show.what == "create other") {
    return NotFoundError("no such {} '{}'", show.argument, show.table.name);
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<storage::Table> table, FindShownTable(show.table, context));
  ShowRows answer({"Table", "Create Table"});
  const auto definition = table->definition();
  answer.Add({definition->name, ShowCreateTable(*definition, QuotesNames(context.session))});
  return answer;
}

}  // namespace stoa::sql
