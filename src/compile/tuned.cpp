// tuned.cpp: the database of what tuning found. Interface: tuned.h.
#include "compile/tuned.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "compile/objects.h"

namespace lathe {
namespace {

/// Grows when a choice of an earlier version would no longer mean the same.
constexpr long version = 1;

/// A write is on the disk when its function returns; readers never wait for a writer.
const char* const set_up =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "CREATE TABLE IF NOT EXISTS measurement (version INTEGER, unit TEXT, target TEXT,"
    " threads INTEGER, code TEXT, schedule TEXT, settings TEXT, time REAL, own REAL, failure TEXT,"
    " at TEXT, PRIMARY KEY (version, unit, target, threads, code, schedule, settings));"
    "CREATE TABLE IF NOT EXISTS choice (version INTEGER, unit TEXT, target TEXT, threads INTEGER,"
    " standing TEXT, schedule TEXT, settings TEXT, time REAL, own REAL, at TEXT,"
    " PRIMARY KEY (version, unit, target, threads, standing));"
    "CREATE TABLE IF NOT EXISTS cost (version INTEGER, unit TEXT, target TEXT, threads INTEGER,"
    " beside TEXT, time REAL, own REAL, failure TEXT, at TEXT,"
    " PRIMARY KEY (version, unit, target, threads, beside));"
    "CREATE TABLE IF NOT EXISTS layout (version INTEGER, unit TEXT, target TEXT, threads INTEGER,"
    " choice TEXT, at TEXT, PRIMARY KEY (version, unit, target, threads));";

const char* const here = " WHERE version = ? AND unit = ? AND target = ? AND threads = ?";

Query about(const Database& database, const std::string& text, const TunedFor& where) {
  Query query(database, text);
  query.bind(version).bind(where.unit).bind(where.target).bind(static_cast<long>(where.threads));
  return query;
}

std::string now() {
  char text[32];
  std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string made_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  return path;
}

/// Returns the choice in two columns; nothing if the file holds something else there.
std::optional<Choice> choice_in(const Query& query, int column) {
  auto settings = parse_settings(query.text(column + 1));
  return settings ? std::optional(Choice{query.text(column), *settings}) : std::nullopt;
}

std::optional<Found> with_standing(const Database& database, const TunedFor& where,
                                   const std::string& standing) {
  Query query = about(
      database,
      fmt::format("SELECT schedule, settings, time, own FROM choice{} AND standing = ?", here),
      where);
  query.bind(standing);
  if (!query.step()) return std::nullopt;
  auto choice = choice_in(query, 0);
  if (!choice) return std::nullopt;
  return Found{*choice, query.real(2), query.real(3)};
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    // What a processor is called; of Arm's, who made it and its number.
    for (const char* what : {"model name", "CPU implementer", "CPU part", "CPU variant"}) {
      if (line.starts_with(what)) text += " " + line.substr(line.find(':') + 2);
    }
  }
  return text;
}

}  // namespace

TunedStore::TunedStore(const std::string& path)
    : database_(made_folder(path), Database::Open::create) {
  database_.run(set_up);
}

void TunedStore::add(const TunedFor& where, const Measurement& m) {
  Query query =
      about(database_,
            "INSERT OR REPLACE INTO measurement VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", where);
  query.bind(m.code).bind(m.choice.schedule).bind(print_settings(m.choice.settings));
  query.bind(m.time).bind(m.own).bind(m.failure).bind(now()).step();
}

void TunedStore::add_all(const std::vector<std::pair<TunedFor, Measurement>>& all) {
  database_.run("BEGIN IMMEDIATE");
  for (const auto& [where, measurement] : all) add(where, measurement);
  database_.run("COMMIT");
}

std::vector<Measurement> TunedStore::measurements(const TunedFor& where) const {
  Query query =
      about(database_,
            fmt::format("SELECT schedule, settings, code, time, own, failure FROM measurement{}"
                        " ORDER BY rowid",
                        here),
            where);
  std::vector<Measurement> result;
  while (query.step()) {
    auto choice = choice_in(query, 0);
    if (!choice) continue;
    result.push_back({*choice, query.text(2), query.real(3), query.real(4), query.text(5)});
  }
  return result;
}

void TunedStore::set_found(const TunedFor& where, const Found& found) {
  Query query =
      about(database_, "INSERT OR REPLACE INTO choice VALUES (?, ?, ?, ?, 'found', ?, ?, ?, ?, ?)",
            where);
  query.bind(found.choice.schedule).bind(print_settings(found.choice.settings));
  query.bind(found.time).bind(found.own).bind(now()).step();
}

std::optional<Found> TunedStore::found(const TunedFor& where) const {
  return with_standing(database_, where, "found");
}

std::optional<Found> TunedStore::kept(const TunedFor& where) const {
  return with_standing(database_, where, "kept");
}

void TunedStore::keep(const std::vector<TunedFor>& found, const std::vector<TunedFor>& dropped) {
  database_.run("BEGIN IMMEDIATE");
  for (const TunedFor& where : found) {
    about(database_,
          fmt::format("INSERT OR REPLACE INTO choice SELECT version, unit, target, threads, 'kept',"
                      " schedule, settings, time, own, at FROM choice{} AND standing = 'found'",
                      here),
          where)
        .step();
  }
  for (const TunedFor& where : dropped) {
    about(database_, fmt::format("DELETE FROM choice{}", here), where).step();
  }
  database_.run("COMMIT");
}

void TunedStore::add_cost(const TunedFor& where, const std::string& beside,
                          const LayoutCost& cost) {
  Query query =
      about(database_, "INSERT OR REPLACE INTO cost VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", where);
  query.bind(beside).bind(cost.time).bind(cost.own).bind(cost.failure).bind(now()).step();
}

std::optional<LayoutCost> TunedStore::cost(const TunedFor& where, const std::string& beside) const {
  Query query = about(
      database_, fmt::format("SELECT time, own, failure FROM cost{} AND beside = ?", here), where);
  query.bind(beside);
  if (!query.step()) return std::nullopt;
  return LayoutCost{query.real(0), query.real(1), query.text(2)};
}

void TunedStore::keep_layouts(const TunedFor& network, const std::optional<LayoutChoice>& choice) {
  if (!choice) {
    about(database_, fmt::format("DELETE FROM layout{}", here), network).step();
    return;
  }
  about(database_, "INSERT OR REPLACE INTO layout VALUES (?, ?, ?, ?, ?, ?)", network)
      .bind(print(*choice))
      .bind(now())
      .step();
}

std::optional<LayoutChoice> TunedStore::layouts(const TunedFor& network) const {
  Query query = about(database_, fmt::format("SELECT choice FROM layout{}", here), network);
  return query.step() ? parse_layout_choice(query.text(0)) : std::nullopt;
}

void TunedStore::forget(const std::vector<TunedFor>& all) {
  database_.run("BEGIN IMMEDIATE");
  for (const TunedFor& where : all) {
    for (const char* table : {"measurement", "choice", "cost", "layout"}) {
      about(database_, fmt::format("DELETE FROM {}{}", table, here), where).step();
    }
  }
  database_.run("COMMIT");
}

std::map<std::string, Found> TunedStore::others(const TunedFor& where) const {
  Query query(database_,
              "SELECT schedule, settings, time, own, unit FROM choice"
              " WHERE version = ? AND unit != ? AND target = ? AND threads = ? ORDER BY standing");
  query.bind(version).bind(where.unit).bind(where.target).bind(static_cast<long>(where.threads));
  std::map<std::string, Found> result;
  while (query.step()) {
    auto choice = choice_in(query, 0);
    if (choice) result[query.text(4)] = {*choice, query.real(2), query.real(3)};
  }
  return result;
}

std::string tuned_path() {
  if (const char* own = std::getenv("LATHE_TUNED")) return own;
  std::filesystem::path objects = objects_folder();
  if (objects.empty()) return "";
  bool given = std::getenv("LATHE_CACHE") != nullptr;
  return ((given ? objects : objects.parent_path()) / "tuned.db").string();
}

namespace {

/// Returns what a GPU's code depends on: all but which device it is. Of a CPU behind OpenCL that is
/// how long its vectors are.
std::string kind_of_gpu(const Target& target) {
  if (!target.has_warps()) return fmt::format("opencl {} bytes ", target.cpu.vector_bytes);
  std::string kind = target.architecture == Architecture::opencl
                         ? "opencl"
                         : fmt::format("cuda sm_{}", target.gpu.capability);
  return fmt::format("{} {} multiprocessors ", kind, target.gpu.multiprocessors);
}

/// Returns the target under which a database has choices. Where no device is meant, that is the one
/// of this kind that was tuned last.
std::string target_in(const Database& database, const Target& target) {
  if (!target.is_gpu() || !target.gpu.model.empty()) return tuned_target(target);
  std::string kind = kind_of_gpu(target);
  Query query(database,
              "SELECT target FROM choice WHERE version = ? AND standing = 'kept'"
              " AND substr(target, 1, ?) = ? ORDER BY at DESC, rowid DESC LIMIT 1");
  query.bind(version).bind(static_cast<long>(kind.size())).bind(kind);
  return query.step() ? query.text(0) : kind;
}

}  // namespace

std::string TunedStore::target_of(const Target& target) const {
  return target_in(database_, target);
}

std::string tuned_target(const Target& target) {
  if (target.is_gpu()) return kind_of_gpu(target) + target.gpu.model;
  static const std::string model = processor();
  return target.name + " " + target.features + model;
}

namespace {

/// Returns who knows what a query finds for a target and so many workers: "read" makes an answer of
/// a row, whose first column is what it is about. Null if there is none.
template <class Answer>
std::function<std::optional<Answer>(const std::string&)> answers(
    const std::string& path, const Target& target, int threads, const char* text,
    std::optional<Answer> (*read)(const Query& row),
    const std::function<void(const std::string&)>& warn) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return nullptr;
  std::map<std::string, Answer> kept;
  try {
    Database database(path, Database::Open::read);
    Query query(database, text);
    query.bind(version).bind(target_in(database, target)).bind(static_cast<long>(threads));
    while (query.step()) {
      if (auto answer = read(query)) kept[query.text(0)] = *answer;
    }
  } catch (const UserError& failure) {
    warn(fmt::format("what was tuned is not used: {}", failure.what()));
    return nullptr;
  }
  if (kept.empty()) return nullptr;
  return [kept = std::move(kept)](const std::string& key) -> std::optional<Answer> {
    auto found = kept.find(key);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace

Chooser tuned_choices(const std::string& path, const Target& target, int threads,
                      const std::function<void(const std::string&)>& warn) {
  return answers<Choice>(
      path, target, threads,
      "SELECT unit, schedule, settings FROM choice"
      " WHERE version = ? AND target = ? AND threads = ? AND standing = 'kept'",
      [](const Query& row) { return choice_in(row, 1); }, warn);
}

LayoutChooser tuned_layouts(const std::string& path, const Target& target, int threads) {
  // A database that cannot be read was complained of before, and an older one has none.
  auto silent = [](const std::string&) {};
  return answers<LayoutChoice>(
      path, target, threads,
      "SELECT unit, choice FROM layout WHERE version = ? AND target = ? AND threads = ?",
      [](const Query& row) { return parse_layout_choice(row.text(1)); }, silent);
}

std::string print_settings(const Settings& settings) { return nlohmann::json(settings).dump(); }

std::optional<Settings> parse_settings(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  Settings settings;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number_integer()) return std::nullopt;
    settings[name] = value.get<long>();
  }
  return settings;
}

}  // namespace lathe
