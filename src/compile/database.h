// SQLite: the only include of its header is in database.cpp.
//
//   Database database("tuned.db", Database::Open::create);
//   Query query(database, "SELECT name FROM layers WHERE size > ?");
//   query.bind(12L);
//   while (query.step()) use(query.text(0));
//
// Every failure is a UserError. It names the file, and says what SQLite says.
#pragma once

#include <memory>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace lathe {

/// An open database.
class Database {
 public:
  enum class Open { read, create };
  /// Opens a file. Other processes may have it open: each waits some seconds for the others.
  Database(std::string path, Open open);

  /// Runs statements that return nothing. Outside of a transaction, they start again if another
  /// process is in the way. So they must be such that running them twice does no harm.
  void run(const std::string& statements);
  [[noreturn]] void fail_as_sqlite() const;
  sqlite3* handle() const { return handle_.get(); }

 private:
  std::string path_;
  std::shared_ptr<sqlite3> handle_;
};

/// One statement of SQL. Its results come row by row.
class Query {
 public:
  Query(const Database& database, const std::string& text);

  /// Gives the next parameter its value.
  Query& bind(long value);
  Query& bind(double value);
  Query& bind(const std::string& value);

  /// Goes to the next row. Is there one?
  bool step();
  /// Returns a column of the row.
  long integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  const Database& database_;
  std::shared_ptr<sqlite3_stmt> handle_;
  int bound_ = 0;
};

}  // namespace lathe
