// The same network for another number of samples.
#include "program/rebatch.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "models/model.h"
#include "ops/op_graph.h"

namespace lathe::test {
namespace {

TEST(Rebatch, IsTheNetworkBuiltForAsMany) {
  for (const ModelEntry& entry : list_models()) {
    const std::string& name = entry.example;
    SCOPED_TRACE(name);
    Graph many = load_model(name, {.batch = 4});
    EXPECT_EQ(structural_hash(rebatched(load_model(name, {}), 4)), structural_hash(many));
    EXPECT_EQ(structural_hash(rebatched(many, 4)), structural_hash(many));
  }
}

TEST(Rebatch, SaysWhereSamplesAreBuiltIn) {
  GraphBuilder g("fixed");
  ValueId x = g.input("x", {Element::f32, {1, 8}});
  g.output(g.call("reshape", {x}, {{"shape", Shape{8}}}, "flat"));
  try {
    rebatched(g.build(), 4);
    FAIL() << "it was not refused";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("'fixed' is made for 1 sample"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("'flat'"), std::string::npos);
  }
}

}  // namespace
}  // namespace lathe::test
