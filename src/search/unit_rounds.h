// Units tuned in rounds, by a device that may be elsewhere: all candidates of a round are compiled,
// then all are measured, then the next round is made of the best.
//
//   JobFolder folder({"jobs", "x86-64-v3"});
//   UnitRounds rounds(folder, target, store, options);
//   rounds.take_in();                                what was measured meanwhile is in the store
//   if (rounds.missing() == 0) rounds.prepare({{&search, 40}}, UnitRounds::Kind::broad);
//
// The plan of the folder has a line for each candidate: the unit, the choice and the job. Its round
// is in the plan, too, so that a later process goes on where this one was. All is the same each
// time for the same seed and the same results.
#pragma once

#include "search/job_folder.h"
#include "search/unit_search.h"

namespace lathe {

struct UnitRoundsOptions {
  uint64_t seed = 1;
  int threads = 1;
  long network_weights = 0;  ///< bytes, in all of the network: they come from as far away
  std::function<bool()> stop = nullptr;
  std::function<void(size_t done, size_t all)> progress =
      nullptr;  ///< candidates that are compiled
};

/// What a device says of a unit.
struct UnitOwn {
  double time = 0;      ///< seconds, by the template's own choice, when it was measured last
  std::string failure;  ///< why there is none
};

class UnitRounds {
 public:
  /// The folder, the store and all units must live as long.
  UnitRounds(JobFolder& folder, const Target& target, TunedStore& store, UnitRoundsOptions options);

  /// Returns the number of the last round that was prepared; 0 if there was none.
  int round() const;
  /// Returns how many jobs the plan has, and how many of them have no result.
  size_t jobs() const;
  size_t missing() const;

  void set_network_weights(long bytes) { options_.network_weights = bytes; }

  /// Puts all results into the store. What is best of a unit, and clearly better than the default,
  /// is "found" there.
  void take_in();
  /// Returns the target that the store knows all that by: one that has the name of the device.
  TunedFor about(const std::string& unit) const;

  /// Returns what is known of a unit; null if it was in no round.
  const UnitOwn* own(const std::string& unit) const;
  /// Says why the outputs of a unit are not compared with anything; "" if they are.
  std::string unchecked(const std::string& unit) const;
  /// Returns how many candidates were measured, and how many of these failed.
  long tried() const { return tried_; }
  long failed() const { return failed_; }

  /// What is proposed: anything, what is like the best, or that and the best themselves again.
  enum class Kind { broad, near, last };
  struct Share {
    UnitSearch* search;
    size_t count;
  };
  /// Compiles a round of so many candidates of each unit and adds their jobs to the folder,
  /// together with the template's own choice. Returns false if it was stopped.
  bool prepare(const std::vector<Share>& shares, Kind kind);

  /// Adds a whole network to the round, to be measured beside others.
  void add_network(const std::string& name, const Graph& graph, const CompileOptions& how);
  /// Returns what is known of it; null if nothing is.
  const JobResult* network(const std::string& name) const;
  bool has_network(const std::string& name) const;

  /// Writes the round: then jobs() are missing.
  void write();

 private:
  struct Candidate;
  JobFolder& folder_;
  Target target_;
  TunedStore& store_;
  UnitRoundsOptions options_;
  std::map<std::string, UnitOwn> own_;
  std::set<std::string> expected_;  // units whose outputs stand in what is written next
  long tried_ = 0, failed_ = 0;

  std::vector<Choice> proposals(const Share& share, Kind kind);
  std::vector<Candidate> made(const UnitSearch& search,
                              const std::vector<std::optional<Choice>>& choices) const;
  void add(const UnitSearch& search, std::vector<Candidate> candidates);
  bool add_expected(const Unit& unit);
};

}  // namespace lathe
