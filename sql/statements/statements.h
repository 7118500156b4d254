#pragma once

#include "sql/session/session_state.h"

// One function per statement kind; each sends its results to context.sink and returns what went wrong
// otherwise.
namespace stoa::sql {

// sql/exec
Status ExecuteSelect(const SelectStatement& statement, StatementContext& context);
// Columns a SELECT would give; for PREPARE.
Result<std::vector<ResultColumn>> DescribeSelect(const SelectStatement& statement, StatementContext& context);
Status ExecuteExplain(const ExplainStatement& statement, StatementContext& context);

// Rows (ids ascending per part) of a snapshot that a WHERE of UPDATE or DELETE selects. The shared piece of
// both.
Result<std::vector<DocId>> SelectDocuments(const storage::TableSnapshot& snapshot, const ParsedExpr& where,
                                           StatementContext& context);

// sql/statements
Status ExecuteInsert(const InsertStatement& statement, StatementContext& context);
Status ExecuteUpdate(const UpdateStatement& statement, StatementContext& context);
Status ExecuteDelete(const DeleteStatement& statement, StatementContext& context);
Status ExecuteTransaction(const TransactionStatement& statement, StatementContext& context);
Status CommitTransaction(
    StatementContext& context);  // of pending changes; BEGIN, COMMIT, SET autocommit=1, DDL

Status ExecuteCreateTable(const CreateTableStatement& statement, StatementContext& context);
Status ExecuteDropTable(const DropTableStatement& statement, StatementContext& context);
Status ExecuteTruncate(const TruncateStatement& statement, StatementContext& context);
Status ExecuteAlterTable(const AlterTableStatement& statement, StatementContext& context);
std::string ShowCreateTable(const storage::TableDefinition& definition, bool quote_names);

Status ExecuteShow(const ShowStatement& statement, StatementContext& context);
Status ExecuteSet(const SetStatement& statement, StatementContext& context);
Status ExecuteUse(const UseStatement& statement, StatementContext& context);
Status ExecuteKill(const KillStatement& statement, StatementContext& context);
Status ExecuteFlush(const FlushStatement& statement, StatementContext& context);
Status ExecuteOptimize(const OptimizeStatement& statement, StatementContext& context);
Status ExecuteFreeze(const FreezeStatement& statement, StatementContext& context);
Status ExecuteBackup(const BackupStatement& statement, StatementContext& context);
Status ExecuteImportTable(const ImportTableStatement& statement, StatementContext& context);
Status ExecuteEvict(const EvictStatement& statement, StatementContext& context);
// 1064 "FLUSH TABLE requires an existing RT table, 't' is none"; `statement` names the statement.
Status RequireRealTime(std::string_view statement, const TableReference& reference,
                       StatementContext& context);
Status ExecuteLockTables(const LockTablesStatement& statement, StatementContext& context);
Status ExecuteCall(const CallStatement& statement, StatementContext& context);

}  // namespace stoa::sql
