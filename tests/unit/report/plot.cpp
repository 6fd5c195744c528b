// Plots: what is drawn lies inside, all text is escaped, and the file is XML.
#include "report/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Returns what is wrong with the text as XML: tags that do not match, or text that is no text.
std::string xml_error(const std::string& text) {
  static const std::regex tag("<(/?)([a-z]+)((?: [a-zA-Z0-9:-]+=\"[^\"<&]*\")*) ?(/?)>");
  static const std::regex plain("(?:[^<>&]|&(?:amp|lt|gt|quot|apos);)*");
  std::vector<std::string> open;
  std::string clean = std::regex_replace(text, std::regex("&(?:amp|lt|gt|quot|apos);"), "");
  auto at = clean.cbegin();
  for (std::smatch match; std::regex_search(at, clean.cend(), match, tag); at = match[0].second) {
    std::string between(at, match[0].first);
    if (between.find_first_of("<>&") != std::string::npos) return "text: " + between;
    if (match[1].length() > 0) {
      if (open.empty() || open.back() != match[2]) return "closes " + match[2].str();
      open.pop_back();
    } else if (match[4].length() == 0) {
      open.push_back(match[2]);
    }
  }
  std::string rest(at, clean.cend());
  if (rest != "\n") return "after the end: " + rest;
  return open.empty() ? "" : "does not close " + open.back();
}

/// Returns the centres of all circles.
std::vector<std::pair<double, double>> circles(const std::string& svg) {
  static const std::regex circle("<circle cx=\"([0-9.-]+)\" cy=\"([0-9.-]+)\"");
  std::vector<std::pair<double, double>> result;
  for (std::sregex_iterator i(svg.begin(), svg.end(), circle), end; i != end; ++i) {
    result.emplace_back(std::stod((*i)[1]), std::stod((*i)[2]));
  }
  return result;
}

Plot sample() {
  Plot plot{.title = "Scores & \"accuracies\" <all>", .x = {"score's"}, .y = {"accuracy, %"}};
  plot.series.push_back({"NAS-Bench-201", {{1, 90, "a<b"}, {2, 91}, {3.5, 94}, {-4, 89.5}}});
  plot.series.push_back({"found", {{2.5, 93.5, "group(4)"}}, Marker::diamond});
  for (Marker marker : {Marker::square, Marker::triangle, Marker::cross}) {
    plot.series.push_back({"more", {{0, 92}, {1, 92.5}}, marker, "#000000", true});
  }
  plot.lines.push_back({Line::Along::y, 93, "the original"});
  plot.lines.push_back({Line::Along::x, 0, "noise", 0.5});
  return plot;
}

TEST(Plot, IsXml) {
  EXPECT_EQ(xml_error("<a x=\"1\"><b/></a>\n"), "");
  EXPECT_NE(xml_error("<a><b></a>\n"), "");
  EXPECT_NE(xml_error("<a>&</a>\n"), "");
  std::string svg = print_svg(sample());
  EXPECT_EQ(xml_error(svg), "") << svg;
  EXPECT_NE(svg.find("Scores &amp; &quot;accuracies&quot; &lt;all&gt;"), std::string::npos);
  EXPECT_NE(svg.find("<title>a&lt;b</title>"), std::string::npos);
  EXPECT_EQ(svg, print_svg(sample()));
}

TEST(Plot, PointsAreInside) {
  Plot plot = sample();
  std::vector<std::pair<double, double>> points = circles(print_svg(plot));
  ASSERT_EQ(points.size(), 5u);  // one is in the legend
  for (auto [x, y] : points) {
    EXPECT_GT(x, 0);
    EXPECT_LT(x, static_cast<double>(plot.width));
    EXPECT_GT(y, 0);
    EXPECT_LT(y, static_cast<double>(plot.height));
  }
  // Larger is further to the right, and further up.
  EXPECT_LT(points[0].first, points[1].first);
  EXPECT_GT(points[0].second, points[1].second);
}

TEST(Plot, LogarithmsSpaceEvenly) {
  Plot plot{.title = "t", .x = {"x", Scale::logarithmic}, .y = {"y"}};
  plot.series.push_back({"s", {{1, 0}, {10, 1}, {100, 2}}});
  std::vector<std::pair<double, double>> points = circles(print_svg(plot));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_NEAR(points[1].first - points[0].first, points[2].first - points[1].first, 0.011);
}

TEST(Plot, OnlyWhatTheAxesCover) {
  Plot plot{.title = "t", .x = {"x", Scale::linear, 0, 2}, .y = {"y"}};
  plot.series.push_back({"s", {{0, 0}, {1, 1}, {2, 2}, {3, 3}}});
  EXPECT_EQ(circles(print_svg(plot)).size(), 3u);
}

TEST(Plot, OnePoint) {
  for (Scale scale : {Scale::linear, Scale::logarithmic}) {
    for (double at : {1e-9, 1.0, 12345678.0}) {
      Plot plot{.title = "t", .x = {"x", scale}, .y = {"y", scale}};
      plot.series.push_back({"s", {{at, at}}});
      std::string svg = print_svg(plot);
      EXPECT_EQ(xml_error(svg), "") << svg;
      EXPECT_EQ(svg.find("nan"), std::string::npos);
      EXPECT_EQ(circles(svg).size(), 1u);
    }
  }
}

TEST(Plot, WhatHasNoPlace) {
  Plot plot{.title = "t", .x = {"size", Scale::logarithmic}, .y = {"y"}};
  expect_failure([&] { print_svg(plot); }, {"plot: the axis 'size' has nothing to cover"});
  plot.series.push_back({"mine", {{0, 1}}});
  expect_failure([&] { print_svg(plot); },
                 {"plot: 'mine' has no place for 0 on the logarithmic axis 'size'"});
  plot.series[0].points = {{1, std::nan("")}};
  expect_failure([&] { print_svg(plot); }, {"no place for nan on the linear axis 'y'"});
  plot.series[0].points = {{1, 1}};
  plot.width = 10;
  expect_failure([&] { print_svg(plot); }, {"10 by 420 is too small"});
}

std::string written(const std::vector<Tick>& list) {
  std::string result;
  for (const Tick& tick : list) result += (result.empty() ? "" : " ") + tick.text;
  return result;
}

TEST(Plot, Ticks) {
  auto linear = [](double low, double high) { return written(ticks(low, high, Scale::linear, 5)); };
  EXPECT_EQ(linear(0, 10), "0 2 4 6 8 10");
  EXPECT_EQ(linear(-1, 1), "-1.0 -0.5 0 0.5 1.0");
  EXPECT_EQ(linear(0.12, 0.13), "0.120 0.122 0.124 0.126 0.128 0.130");
  EXPECT_EQ(linear(89.3, 94.1), "90 91 92 93 94");
  EXPECT_EQ(linear(0, 3e7), "0 1e7 2e7 3e7");
  auto logarithmic = [](double low, double high) {
    return written(ticks(low, high, Scale::logarithmic, 5));
  };
  EXPECT_EQ(logarithmic(1, 1000), "1 10 100 1000");
  EXPECT_EQ(logarithmic(1, 100), "1 2 5 10 20 50 100");
  EXPECT_EQ(logarithmic(1e-8, 1e8), "1e-8 0.0001 1 10000 1e8");
  EXPECT_EQ(logarithmic(300, 400), "300 320 340 360 380 400");
}

TEST(Plot, Escapes) {
  EXPECT_EQ(escaped("a & b < \"c\" > 'd'\n"), "a &amp; b &lt; &quot;c&quot; &gt; &apos;d&apos;");
}

}  // namespace
}  // namespace lathe::test
