// journal.cpp: the record of a search in SQLite. Interface: journal.h.
#include "search/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.h"

namespace lathe {
namespace {

constexpr const char* tables = R"sql(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
BEGIN;
CREATE TABLE IF NOT EXISTS identity (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS trials (
  number INTEGER PRIMARY KEY, at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, subject TEXT NOT NULL,
  recipe TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, time REAL NOT NULL,
  own REAL NOT NULL, details TEXT NOT NULL, UNIQUE (subject, recipe));
CREATE TABLE IF NOT EXISTS numbers (name TEXT PRIMARY KEY, value REAL NOT NULL);
COMMIT;
)sql";

constexpr const char* columns = "subject, recipe, outcome, reason, time, own, details";

/// How long to wait for the lock of a folder.
constexpr std::chrono::seconds patience(3);

std::string file_of(const std::string& folder) { return folder + "/journal.db"; }

/// Makes the folder and locks it; returns the descriptor that holds the lock.
int locked(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("cannot make the folder '{}': {}", folder, error.message());
  std::string path = folder + "/lock";
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) fail("cannot write to the folder '{}': {}", folder, std::strerror(errno));
  // A search that was killed a moment ago holds the lock until the system has cleared it away.
  auto end = std::chrono::steady_clock::now() + patience;
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= end) {
      close(file);
      fail("another search works in '{}': wait for it, or give another folder", folder);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return file;
}

std::optional<Trial::Outcome> outcome_named(const std::string& name) {
  for (auto outcome : {Trial::Outcome::measured, Trial::Outcome::judged, Trial::Outcome::refused,
                       Trial::Outcome::failed}) {
    if (name == name_of(outcome)) return outcome;
  }
  return std::nullopt;
}

/// Reads the columns of a trial, the first of which has this number.
Trial trial_in(const Query& row, int first) {
  auto outcome = outcome_named(row.text(first + 2));
  if (!outcome)
    fail("the journal has an outcome '{}': a later version wrote it", row.text(first + 2));
  nlohmann::json details = nlohmann::json::parse(row.text(first + 6), nullptr, false);
  if (details.is_discarded()) {
    fail("the journal is damaged: the details of '{}' are no JSON", row.text(first + 1));
  }
  return {row.text(first),     row.text(first + 1), *outcome,          row.text(first + 3),
          row.real(first + 4), row.real(first + 5), std::move(details)};
}

Journal::Identity identity_in(const Database& database) {
  Journal::Identity identity;
  Query query(database, "SELECT name, value FROM identity");
  while (query.step()) identity[query.text(0)] = query.text(1);
  return identity;
}

void check_identity(const std::string& folder, const Journal::Identity& is,
                    const Journal::Identity& must) {
  for (const auto& [name, value] : must) {
    auto found = is.find(name);
    if (found != is.end() && found->second == value) continue;
    fail(
        "'{}' holds a search of another {}: '{}' there, '{}' now; give another --work-dir, or "
        "remove that one",
        folder, name, found == is.end() ? "" : found->second, value);
  }
}

}  // namespace

const char* name_of(Trial::Outcome outcome) {
  switch (outcome) {
    case Trial::Outcome::measured:
      return "measured";
    case Trial::Outcome::judged:
      return "judged";
    case Trial::Outcome::refused:
      return "refused";
    case Trial::Outcome::failed:
      return "failed";
  }
  return "";
}

Journal::Journal(const std::string& folder, const Identity& identity)
    : lock_(locked(folder)), database_(file_of(folder), Database::Open::create) {
  database_.run(tables);
  Identity known = identity_in(database_);
  if (!known.empty()) {
    check_identity(folder, known, identity);
    return;
  }
  database_.run("BEGIN");
  for (const auto& [name, value] : identity) {
    Query(database_, "INSERT INTO identity VALUES (?, ?)").bind(name).bind(value).step();
  }
  database_.run("COMMIT");
}

std::vector<std::string> Journal::file_names() {
  return {"lock", "journal.db", "journal.db-wal", "journal.db-shm"};
}

Journal::~Journal() { close(lock_); }

void Journal::adopt(const std::string& folder) {
  {
    Query attach(database_, "ATTACH DATABASE ? AS other");
    attach.bind(file_of(folder)).step();
  }
  database_.run(
      "INSERT OR IGNORE INTO numbers SELECT name, value FROM other.numbers;"
      "INSERT OR IGNORE INTO trials (subject, recipe, outcome, reason, time, own, details) "
      "SELECT subject, recipe, outcome, reason, time, own, details FROM other.trials "
      "WHERE subject NOT LIKE '%network%' ORDER BY number;"
      "DETACH DATABASE other");
}

void Journal::adopt_scores(const std::string& folder) {
  {
    Query attach(database_, "ATTACH DATABASE ? AS other");
    attach.bind(file_of(folder)).step();
  }
  database_.run(
      "INSERT OR IGNORE INTO numbers SELECT name, value FROM other.numbers "
      "WHERE name LIKE '% of %: %' AND name NOT LIKE 'seconds%';"
      "DETACH DATABASE other");
}

std::optional<Trial> Journal::find(const std::string& subject, const std::string& recipe) const {
  Query query(database_,
              fmt::format("SELECT {} FROM trials WHERE subject = ? AND recipe = ?", columns));
  query.bind(subject).bind(recipe);
  if (!query.step()) return std::nullopt;
  return trial_in(query, 0);
}

void Journal::add(const Trial& trial) {
  Query query(
      database_,
      fmt::format("INSERT OR REPLACE INTO trials ({}) VALUES (?, ?, ?, ?, ?, ?, ?)", columns));
  query.bind(trial.subject).bind(trial.recipe).bind(std::string(name_of(trial.outcome)));
  query.bind(trial.reason).bind(trial.time).bind(trial.own).bind(trial.details.dump());
  query.step();
}

std::optional<double> Journal::number(const std::string& name) const {
  Query query(database_, "SELECT value FROM numbers WHERE name = ?");
  query.bind(name);
  if (!query.step()) return std::nullopt;
  return query.real(0);
}

void Journal::set_number(const std::string& name, double value) {
  Query(database_, "INSERT OR REPLACE INTO numbers VALUES (?, ?)").bind(name).bind(value).step();
}

JournalRecord read_journal(const std::string& folder) {
  std::string path = file_of(folder);
  if (!std::filesystem::exists(path)) {
    fail("'{}' holds no search: 'lathe optimize ... --work-dir {}' makes one", folder, folder);
  }
  Database database(path, Database::Open::read);
  // A search that is killed at its very start leaves an empty file.
  Query tables_there(database, "SELECT count(*) FROM sqlite_master");
  tables_there.step();
  if (tables_there.integer(0) == 0) return {};
  JournalRecord record{identity_in(database), {}};
  Query query(database, fmt::format("SELECT number, at, {} FROM trials ORDER BY number", columns));
  while (query.step()) {
    record.trials.push_back({query.integer(0), query.text(1), trial_in(query, 2)});
  }
  return record;
}

}  // namespace lathe
