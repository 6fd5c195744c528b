// What the verbs that run something share: inputs from files, outputs to people and machines.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "compile/compile.h"

namespace lathe {

/// An option NAME=WHAT.
struct NamedOption {
  std::string name, what;
};

/// Reads options [NAME=]WHAT; one without a name gets the next of "names" that is left. "what" says
/// in errors what they are: "input".
std::vector<NamedOption> parse_named_options(const std::vector<std::string>& texts,
                                             const std::vector<std::string>& names,
                                             const char* what);

std::vector<std::string> names_of(const std::vector<CompiledFace>& faces);

/// Reads an .npy or .pb file.
Array read_array(const std::string& path);

/// Returns the inputs that options name: files, images or random numbers; those that are known
/// already are taken as they are. "below" says what random whole numbers of inputs are below
/// (program/random_inputs.h), where that is known.
std::vector<Array> gather_inputs(const std::vector<CompiledFace>& faces,
                                 const std::vector<std::string>& texts,
                                 const std::string& normalize,
                                 const std::map<std::string, Array>& known,
                                 const std::map<std::string, long>& below = {});

/// Reads the names of classes, one on each line; none where the path is empty.
std::vector<std::string> read_labels(const std::string& path);
/// Fails if there are more names than classes.
void check_labels(const std::string& path, const std::vector<std::string>& labels, long classes);
/// Returns how many classes the largest of the outputs that score classes has.
long classes_of(const std::vector<CompiledFace>& outputs);

/// Prints what an output is like; of a classifier's, the best classes.
void print_output(const std::string& name, const Array& output,
                  const std::vector<std::string>& labels);

nlohmann::json to_json(const std::string& name, const Array& output);

}  // namespace lathe
