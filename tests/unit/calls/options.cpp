// The options of calls: what is given, what is left out, what is wrong.
#include <gtest/gtest.h>

#include "calls/call.h"

namespace lathe {
namespace {

/// Returns the message of the error that a function throws.
template <class F>
std::string message(const F& function) {
  try {
    function();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Options, AreReadByName) {
  Options options(R"({"text": "a", "count": 3, "share": 0.5, "flag": true, "list": ["x", "y"]})");
  std::string text;
  long count = 0;
  double share = 0;
  bool flag = false;
  std::vector<std::string> list;
  options.read("text", text);
  options.read("count", count, {1, 10});
  options.read("share", share);
  options.read("flag", flag);
  options.read("list", list);
  options.check_all_read();
  EXPECT_EQ(text, "a");
  EXPECT_EQ(count, 3);
  EXPECT_EQ(share, 0.5);
  EXPECT_TRUE(flag);
  EXPECT_EQ(list, (std::vector<std::string>{"x", "y"}));
}

TEST(Options, KeepWhatIsLeftOutOrNull) {
  Options options(R"({"count": null})");
  long count = 7;
  double share = 0.25;
  options.read("count", count);
  options.read("share", share);
  EXPECT_FALSE(options.has("count"));
  EXPECT_EQ(count, 7);
  EXPECT_EQ(share, 0.25);
}

TEST(Options, SayWhatIsWrong) {
  Options options(R"({"count": 2.5, "much": 100, "network": 3, "bach": 1})");
  long count = 0;
  std::string network;
  EXPECT_EQ(message([&] { options.read("count", count); }),
            "count must be a whole number, not 2.5");
  EXPECT_EQ(message([&] {
              options.read("much", count, {1, 10});
            }),
            "much is 100, and must be 10 or less");
  EXPECT_EQ(message([&] { options.read("network", network); }), "network must be a text, not 3");
  EXPECT_EQ(message([&] { options.required("nest"); }), "nest is missing");
  EXPECT_EQ(message([&] { options.check_all_read(); }),
            "there is no option 'bach'; there are count, much, nest, network");
  EXPECT_EQ(message([&] { Options("[1]"); }),
            "options are an object in JSON, like {\"network\": \"resnet18\"}");
}

TEST(Calls, AreFoundByName) {
  EXPECT_EQ(calls::find_call("score").name, "score");
  EXPECT_EQ(message([&] { calls::find_call("scores"); }).substr(0, 36),
            "there is no call 'scores'; there are");
}

TEST(Calls, ApplyARecipe) {
  Options options(R"json({"nest": "matmul(i=8, j=8, k=8)", "recipe": "split(i, 4)"})json");
  nlohmann::json found = calls::find_call("apply").run(options, {});
  EXPECT_TRUE(found["accepted"]);
  EXPECT_EQ(found["after"]["cost"]["macs"], 512);
  EXPECT_EQ(found["steps"][0]["verdict"]["kind"], "exact");
}

}  // namespace
}  // namespace lathe
