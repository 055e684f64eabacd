// A database file may come from a stranger. What could make SQLite do more than read it is refused
// before its first table is read.
#ifndef OOMDB_SCHEMA_FOREIGN_FILE_H_
#define OOMDB_SCHEMA_FOREIGN_FILE_H_

#include <string>

namespace SQLite {
class Database;
}

namespace oomdb::schema {

// Before the file is opened. A journal beside it that names a super-journal (SQLite's file format,
// section 3) makes SQLite delete the file of that name, anywhere, when it rolls the journal back;
// oomdb writes one database at a time, and none. Throws Error kForeignFile.
void RefuseSuperJournal(const std::string& path);

// After it is known to be a database of oomdb. Throws Error kForeignFile, with what is wrong, where
// one of our tables is a view, a virtual table or has computed columns, or where the file has a
// trigger: they run what somebody else wrote. Tables, views and indexes that people add stay.
void RefuseForeignSchema(SQLite::Database& connection, const std::string& path);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_FOREIGN_FILE_H_
