#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/parser/ast.h"
#include "storage/schema.h"

namespace stoa::sql {

// Checks one setting of CREATE TABLE or ALTER TABLE and stores it in definition.settings in normal form:
// sizes in bytes, switches as 0 or 1, choices in lower case; values of a setting that may be repeated are
// joined by line ends. Errors are complete but for the statement they belong to: "unknown setting 'x'",
// "setting not allowed: path='…'". Settings that are known but do nothing any more add a warning.
Status ApplyTableSetting(std::string_view name, std::string_view value, storage::TableDefinition& definition,
                         std::vector<std::string>& warnings);

// profile='relevance': the settings it stands for, where they are not given.
void ApplyRelevanceProfile(storage::TableDefinition& definition);

// All settings of a statement in order, the profile last. Settings that choose the kind of table are not
// among them.
Status ApplyTableSettings(const std::vector<ParsedOption>& options, storage::TableDefinition& definition,
                          std::vector<std::string>& warnings);

// Values of a setting that may be repeated, as they were given.
std::vector<std::string> SettingValues(std::string_view joined);
bool IsRepeatedSetting(std::string_view name);

}  // namespace stoa::sql
