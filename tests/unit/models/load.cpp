// Networks by name: the list of them, and what wrong names and options are told.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "models/model.h"

namespace lathe::test {
namespace {

std::string error_of(const std::string& name, const ModelOptions& options = {}) {
  try {
    load_model(name, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_error(const std::string& name, const std::string& part,
                  const ModelOptions& options = {}) {
  std::string error = error_of(name, options);
  EXPECT_NE(error.find(part), std::string::npos) << name << "\n  gives " << error;
}

TEST(ModelList, IsSortedWithoutDoubles) {
  std::vector<std::string> names;
  for (const ModelEntry& entry : list_models()) names.push_back(entry.name);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const char* name : {"bert_base", "bert_tiny", "densenet161", "mobilenet_v2", "resnet34",
                           "nasbench201:INDEX|CELL", "resnet34-cifar", "resnext29_2x64d",
                           "ssd_resnet50", "vgg16", "wrn40_2"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(ModelLoad, UnknownNamesGetTheNearestAndTheList) {
  expect_error("resnet33", "no network 'resnet33'; did you mean 'resnet");
  expect_error("ResNet34", "did you mean 'resnet34'?");
  expect_error("resnet-50", "did you mean 'resnet50'?");
  expect_error("mobilenetv2", "did you mean 'mobilenet_v2'?");
  expect_error("wrn-40-2", "did you mean 'wrn40_2'?");
  expect_error("resnet34-cifar10", "did you mean 'resnet34-cifar'?");
  expect_error("nasbench-201:5", "did you mean 'nasbench201'?");
  expect_error("alexnet", "no network 'alexnet'; 'lathe list models' lists the built-in ones");
  expect_error("", "no network ''; 'lathe list models'");
  EXPECT_EQ(error_of("xyzzy").find("did you mean"), std::string::npos);
}

TEST(ModelLoad, ArgumentsAreForThoseThatTakeThem) {
  expect_error("resnet34:5", "'resnet34' takes no argument; leave out ':5'");
  expect_error("nasbench201", "nasbench201:INDEX|CELL; for example nasbench201:6111");
}

TEST(ModelLoad, OptionsHaveBounds) {
  expect_error("resnet18", "resnet18: the batch is 0; give a number from 1", {.batch = 0});
  expect_error("resnet18", "the number of classes is -1", {.classes = -1});
  expect_error("resnet18", "the size is 0", {.size = 0});
  expect_error("resnet18", "the size is", {.size = 1L << 40});
}

TEST(ModelLoad, ImagesAreLargeEnough) {
  expect_error("densenet121", "densenet121: images of 28x28 are too small; at least 29x29",
               {.size = 28});
  expect_error("densenet121-cifar", "images of 7x7 are too small; at least 8x8", {.size = 7});
  expect_error("vgg16-cifar", "images of 31x31 are too small; at least 32x32", {.size = 31});
  expect_error("ssd_resnet50", "images of 256x256 are too small", {.size = 256});
  expect_error("vgg16", "at least 224x224", {.size = 223});
  expect_error("vgg16", "vgg16: the size of its images is a multiple of 224, not 256",
               {.size = 256});
}

TEST(ModelLoad, TextsHaveTokensAndNoClasses) {
  expect_error("bert_tiny", "bert_tiny: a text has at most 512 tokens, not 513", {.size = 513});
  expect_error("bert_tiny", "bert_tiny: it has no classes", {.classes = 2});
}

}  // namespace
}  // namespace lathe::test
