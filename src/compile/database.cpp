// database.cpp: SQLite databases. Interface: database.h.
#include "compile/database.h"

#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "data/file.h"

namespace lathe {
namespace {

/// How long to wait while another process writes, and how long between two tries.
constexpr int patience_ms = 5000, pause_ms = 5;

bool can_write_beside(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

/// The part of a code that says what kind of error it is.
constexpr int primary_code = 0xff;

/// Writes a path as SQLite reads it in an address.
std::string escaped(const std::string& path) {
  std::string result;
  for (char c : path) {
    bool special = c == '%' || c == '?' || c == '#';
    result += special ? fmt::format("%{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return result;
}

}  // namespace

Database::Database(std::string path, Open open) : path_(std::move(path)) {
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored)) InputFile regular(path_);  // no pipe, no device
  sqlite3* handle = nullptr;
  int flags =
      open == Open::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  std::string name = path_;
  if (open == Open::read && !can_write_beside(path_) && !std::filesystem::exists(path_ + "-wal")) {
    // The files that readers share cannot be made there; nobody else writes either.
    name = "file:" + escaped(path_) + "?immutable=1";
    flags |= SQLITE_OPEN_URI;
  }
  int status = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  handle_ = std::shared_ptr<sqlite3>(handle, sqlite3_close_v2);
  if (status != SQLITE_OK) fail_as_sqlite();
  sqlite3_busy_timeout(handle, patience_ms);
}

void Database::run(const std::string& statements) {
  using Clock = std::chrono::steady_clock;
  auto execute = [&] {
    return sqlite3_exec(handle(), statements.c_str(), nullptr, nullptr, nullptr);
  };
  auto end = Clock::now() + std::chrono::milliseconds(patience_ms);
  int status = execute();
  // SQLite itself does not wait where several processes make a database at once.
  while (status == SQLITE_BUSY && sqlite3_get_autocommit(handle()) != 0 && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    status = execute();
  }
  if (status != SQLITE_OK) fail_as_sqlite();
}

void Database::fail_as_sqlite() const {
  switch (handle_ ? sqlite3_errcode(handle()) & primary_code : SQLITE_NOMEM) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      fail("'{}' is damaged, or is not a database; move it away, and Lathe makes a new one", path_);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail("'{}' is in use by another process; try again when that has ended", path_);
    case SQLITE_FULL:
      fail("'{}' cannot grow: the disk is full; make room and try again", path_);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      fail("'{}' cannot be opened; see whether its folder exists and may be written", path_);
    case SQLITE_IOERR: {
      int reason = sqlite3_system_errno(handle());
      fail("'{}' cannot be read or written{}{}", path_, reason == 0 ? "" : ": ",
           reason == 0 ? "" : std::strerror(reason));
    }
    case SQLITE_NOMEM:
      fail("'{}': there is no memory for it", path_);
    default:
      fail("'{}' is a database that Lathe did not write; name another file", path_);
  }
}

Query::Query(const Database& database, const std::string& text) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v2(database.handle(), text.c_str(), -1, &handle, nullptr) != SQLITE_OK) {
    database.fail_as_sqlite();
  }
  handle_ = std::shared_ptr<sqlite3_stmt>(handle, sqlite3_finalize);
}

Query& Query::bind(long value) {
  sqlite3_bind_int64(handle_.get(), ++bound_, value);
  return *this;
}

Query& Query::bind(double value) {
  sqlite3_bind_double(handle_.get(), ++bound_, value);
  return *this;
}

Query& Query::bind(const std::string& value) {
  sqlite3_bind_text(handle_.get(), ++bound_, value.data(), static_cast<int>(value.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

bool Query::step() {
  int status = sqlite3_step(handle_.get());
  if (status != SQLITE_ROW && status != SQLITE_DONE) database_.fail_as_sqlite();
  return status == SQLITE_ROW;
}

long Query::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }

double Query::real(int column) const { return sqlite3_column_double(handle_.get(), column); }

std::string Query::text(int column) const {
  const unsigned char* text = sqlite3_column_text(handle_.get(), column);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

}  // namespace lathe
