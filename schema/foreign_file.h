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

// After it is known to be a database of oomdb, of `version`. Nothing that somebody else wrote may
// run: throws Error kForeignFile, with what differs, where the file has a trigger, or where one of
// our tables is not as schema.sql or the migrations made it (a view or virtual table in its place,
// a CHECK, a computed column or a default more, a column or STRICT less) or has an index over an
// expression or over part of its rows. Tables, views and plain indexes that people add stay, and
// plain columns.
void RefuseForeignSchema(SQLite::Database& connection, const std::string& path, int version);

}  // namespace oomdb::schema

#endif  // OOMDB_SCHEMA_FOREIGN_FILE_H_
