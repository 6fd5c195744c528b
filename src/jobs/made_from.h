// What the verbs share that make bundles, and make them again: where a network came from.
#pragma once

#include "bundle/making.h"
#include "jobs/network_source.h"

namespace lathe {

/// Returns where the network of these arguments comes from. Of a file, its bytes count.
MadeFrom origin_of(const NetworkArguments& arguments);

/// Loads the network that a bundle was made of. "file" is where its file is now; "": where it was.
/// Fails if the file is gone or another one, and if the network is no longer what it was.
Graph load_made(const Making& making, const std::string& file = "");

/// Returns what the library of a bundle computes, if that is less precise than "changed", which the
/// recipe made of the original; else nothing. Fails if integers were made for data that are gone.
std::optional<Graph> narrow_as_made(const Graph& original, const Graph& changed,
                                    const Remade& remade);

/// Returns the recipe of a bundle: the file itself, or that of a folder; of a search, its bundle's.
std::string recipe_file(const std::string& path);

}  // namespace lathe
