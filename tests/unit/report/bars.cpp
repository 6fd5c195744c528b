// Bars: what is drawn lies inside, at every width; long names are shortened, and told whole.
#include "report/bars.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "support/temporary.h"

namespace lathe::test {
namespace {

Bars sample() {
  return {.title = "Time & <layers>",
          .axis = "ms",
          .styles = {{"total", "#0072B2"}, {"saved", "var(--good)"}, {"unused", "#000000"}},
          .rows = {{"original", 0, 26.4, "26.4 ms"},
                   {"a name that is long, and longer than a telephone is wide, by far", 26.4, 20,
                    "−6.4 ms", 1},
                   {"", 20, 20, "0 ms", 1},
                   {"winner", 0, 20, "20.0 ms"}},
          .joined = true};
}

TEST(Bars, AreInside) {
  static const std::regex rectangle("<rect x=\"([0-9.-]+)\" y=\"([0-9.-]+)\" width=\"([0-9.]+)\"");
  for (long width : {328L, 508L, 640L, 1040L}) {
    Bars bars = sample();
    bars.width = width;
    std::string svg = print_svg(bars);
    std::sregex_iterator i(svg.begin(), svg.end(), rectangle), end;
    EXPECT_EQ(std::distance(i, end), 6);  // two are in the legend
    for (; i != end; ++i) {
      EXPECT_GE(std::stod((*i)[1]), 0);
      EXPECT_LE(std::stod((*i)[1]) + std::stod((*i)[3]), static_cast<double>(width));
    }
    EXPECT_EQ(svg.find("unused"), std::string::npos);
    EXPECT_NE(svg.find("Time &amp; &lt;layers&gt;"), std::string::npos);
    EXPECT_NE(svg.find("longer than a telephone is wide"), std::string::npos);
  }
}

TEST(Bars, Shortened) {
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shortened("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(shortened("äöüäöü", 5), "äö…öü");
  EXPECT_EQ(beginning("äöüäöü", 4), "äöü…");
  EXPECT_EQ(beginning("abc", 3), "abc");
  EXPECT_EQ(letters_in("äö…"), 3u);
}

TEST(Bars, DetailsAreCutFirst) {
  Bars bars{.title = "t", .axis = "ms", .styles = {{"", "#000000"}}, .width = 328};
  bars.rows = {{"features.denseblock1.denselayer25.conv2", 0, 1, "1 ms", 0, "",
                "half of it grouped, the other half dense"},
               {"conv1", 0, 1, "1 ms", 0, "", "half of it grouped, the other half dense"}};
  std::string svg = print_svg(bars);
  EXPECT_NE(svg.find(">features.denseblock1.denselayer25.conv2</text>"), std::string::npos);
  EXPECT_NE(svg.find(">conv1, half of it grouped, the other"), std::string::npos);
}

TEST(Bars, WhatHasNoPlace) {
  Bars bars{.title = "t", .axis = "ms", .styles = {{"", "#000000"}}};
  expect_failure([&] { print_svg(bars); }, {"bars: 't' has none"});
  bars.rows = {{"a", 0, INFINITY}};
  expect_failure([&] { print_svg(bars); }, {"bars: 'a' of 't' has no end"});
  bars.rows = {{"a", 0, 0}};
  EXPECT_EQ(print_svg(bars).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace lathe::test
