// Datasets: the made-up one is the same everywhere, those in files are read as they were written,
// and what cannot be a dataset is refused.
#include "data/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/npy.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

constexpr size_t record = 3073;

/// Returns a batch of CIFAR-10: image i has the label (i + shift) mod 10, and its bytes are
/// i + shift, with the channel added.
std::string batch(int shift) {
  std::string content;
  for (int i = 0; i < 10000; ++i) {
    content += static_cast<char>((i + shift) % 10);
    for (int c = 0; c < 3; ++c) content.append(1024, static_cast<char>(i + shift + c));
  }
  return content;
}

/// Returns the mean of each channel of one image.
std::vector<double> channel_means(const Array& images, size_t image) {
  std::vector<double> means;
  for (size_t c = 0; c < 3; ++c) {
    auto values = images.as<float>().subspan((image * 3 + c) * 1024, 1024);
    means.push_back(std::accumulate(values.begin(), values.end(), 0.0) / 1024);
  }
  return means;
}

TEST(Synthetic, HasTheShapeAndCountAskedFor) {
  EXPECT_EQ(load_dataset("synthetic:1", Split::train).count, 50000);
  EXPECT_EQ(load_dataset("synthetic:1", Split::test).count, 10000);
  Dataset data = load_dataset("synthetic:1,40");
  EXPECT_EQ(data.name, "synthetic");
  EXPECT_EQ(data.count, 40);
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.shape, (Shape{3, 32, 32}));
  Array images = data.images(10, 7);
  EXPECT_EQ(images.shape(), (Shape{7, 3, 32, 32}));
  for (float value : images.as<float>()) ASSERT_TRUE(value >= 0 && value <= 1);
}

TEST(Synthetic, AnImageDependsOnSeedSplitAndIndexOnly) {
  Dataset data = load_dataset("synthetic:5,100"), again = load_dataset("synthetic:5,50");
  EXPECT_EQ(data.images(20, 3), again.images(20, 3));
  EXPECT_EQ(data.labels(20, 3), again.labels(20, 3));
  std::vector<double> run = data.images(20, 2).reals();
  EXPECT_EQ(data.images(21, 1).reals(), std::vector<double>(run.begin() + 3072, run.end()));
  EXPECT_FALSE(data.images(0, 1) == data.images(10, 1));
  EXPECT_FALSE(data.images(0, 1) == load_dataset("synthetic:6").images(0, 1));
  EXPECT_FALSE(data.images(0, 1) == load_dataset("synthetic:5", Split::train).images(0, 1));
}

TEST(Synthetic, IsTheSameOnEveryMachine) {
  Dataset data = load_dataset("synthetic:7");
  std::vector<double> values = data.images(0, 20).reals();
  std::string bytes;
  for (double value : values) bytes += static_cast<char>(std::lround(value * 255));
  EXPECT_EQ(hash_bytes(bytes), 11822173300555472137U);
  EXPECT_EQ(data.labels(0, 10), (std::vector<long>{2, 5, 7, 9, 3, 1, 0, 6, 4, 8}));
}

TEST(Synthetic, ClassesAreBalancedAndShuffled) {
  std::vector<long> labels = load_dataset("synthetic:1,1000").labels(0, 1000);
  std::vector<long> counts(10), first(10);
  for (size_t i = 0; i < labels.size(); ++i) {
    ++counts.at(static_cast<size_t>(labels[i]));
    if (i % 10 == 0) ++first.at(static_cast<size_t>(labels[i]));
  }
  EXPECT_EQ(counts, std::vector<long>(10, 100));
  for (long count : first) EXPECT_TRUE(count > 0 && count < 30) << count;
}

TEST(Synthetic, ColourTellsLittleOfTheClass) {
  Dataset data = load_dataset("synthetic:1,400");
  Array images = data.images(0, 400);
  std::vector<long> labels = data.labels(0, 400);
  std::vector<std::vector<double>> centres(10, std::vector<double>(3));
  for (size_t i = 0; i < 200; ++i) {
    std::vector<double> means = channel_means(images, i);
    for (size_t c = 0; c < 3; ++c) centres[static_cast<size_t>(labels[i])][c] += means[c] / 20;
  }
  int right = 0;
  for (size_t i = 200; i < 400; ++i) {
    std::vector<double> means = channel_means(images, i), distances;
    for (const std::vector<double>& centre : centres) {
      distances.push_back(
          std::hypot(centre[0] - means[0], centre[1] - means[1], centre[2] - means[2]));
    }
    auto nearest = std::min_element(distances.begin(), distances.end()) - distances.begin();
    if (nearest == labels[i]) ++right;
  }
  EXPECT_GT(right, 20);
  EXPECT_LT(right, 100);
}

TEST(Synthetic, NormalisesChannels) {
  Array plain = load_dataset("synthetic:3").images(0, 1);
  Array normal = load_dataset("synthetic:3", Split::test, Normalize::cifar).images(0, 1);
  EXPECT_FLOAT_EQ(normal.as<float>()[0], (plain.as<float>()[0] - 0.4914F) / 0.2470F);
  EXPECT_FLOAT_EQ(normal.as<float>()[2048], (plain.as<float>()[2048] - 0.4465F) / 0.2616F);
}

TEST(Synthetic, FitsWhatANetworkReadsAndSays) {
  Dataset plain = load_dataset("synthetic:1,300", Split::test, Normalize::cifar);
  for (const Shape& shape : {Shape{3, 224, 224}, Shape{1, 28, 28}, Shape{3, 5, 7}, Shape{12}}) {
    Dataset data = plain.fitted({{InputForm{shape}}, 7});
    EXPECT_EQ(data.shape, shape);
    EXPECT_EQ(data.classes, 7);
    Shape all = shape;
    all.insert(all.begin(), 2);
    Array images = data.images(4, 2);
    EXPECT_EQ(images.shape(), all);
    std::vector<double> values = images.reals();
    EXPECT_GT(*std::max_element(values.begin(), values.end()),
              *std::min_element(values.begin(), values.end()));
    std::vector<long> labels = data.labels(0, 70), counts(7);
    for (long label : labels) ++counts.at(static_cast<size_t>(label));
    EXPECT_EQ(counts, std::vector<long>(7, 10));
  }
  EXPECT_EQ(plain.fitted({}).images(3, 2), plain.images(3, 2));
}

TEST(Synthetic, FitsANetworkOfOneClass) {
  Dataset data = load_dataset("synthetic:1").fitted({{InputForm{{3, 4, 4}}}, 1});
  EXPECT_EQ(data.images(0, 2).shape(), (Shape{2, 3, 4, 4}));
  EXPECT_EQ(data.labels(0, 3), std::vector<long>(3, 0));
}

TEST(Synthetic, MakesTokensThatAreBelowTheVocabulary) {
  SampleForm form{{InputForm{{128}, 30522}, InputForm{{128}, 2}}, 3};
  Dataset data = load_dataset("synthetic:1,60").fitted(form);
  ASSERT_EQ(data.others.size(), 1u);
  double most = 0;
  for (double token : data.images(0, 60).reals()) {
    EXPECT_TRUE(token >= 0 && token < 30522 && token == std::floor(token)) << token;
    most = std::max(most, token);
  }
  EXPECT_GT(most, 20000);
  for (double bit : data.others[0].images(0, 60).reals()) EXPECT_TRUE(bit == 0 || bit == 1);
  EXPECT_EQ(data.images(5, 1), load_dataset("synthetic:1,60").fitted(form).images(5, 1));
  EXPECT_FALSE(data.images(5, 1) == data.images(6, 1));
}

TEST(Dataset, StaysAsItIsWhereNothingIsGenerated) {
  Dataset data;
  data.shape = {3, 8, 8};
  EXPECT_EQ(data.fitted({{InputForm{{1, 4, 4}}}, 5}).shape, (Shape{3, 8, 8}));
}

TEST(Dataset, RefusesImagesBeyondTheEnd) {
  Dataset data = load_dataset("synthetic:1,40");
  EXPECT_EQ(data.images(40, 0).count(), 0);
  for (auto [first, number] : {std::pair{39L, 2L}, {-1L, 1L}, {0L, -1L}, {41L, 0L}}) {
    expect_failure([&, f = first, n = number] { data.images(f, n); }, {"synthetic has 40 images"});
    expect_failure([&, f = first, n = number] { data.labels(f, n); }, {"synthetic has 40 images"});
  }
}

TEST(Dataset, RefusesUnknownSpecifications) {
  for (const char* spec : {"", "mnist:x", "synthetic", "synthetic:", "synthetic:x", "synthetic:-1",
                           "synthetic:1,", "synthetic:1,0", "synthetic:1,2,3", "synthetic:1 ",
                           "cifar10", "cifar10:", "npy:", "npy:a,b,c"}) {
    expect_failure([&] { load_dataset(spec); },
                   {spec, "synthetic:SEED", "cifar10:DIR", "npy:X.npy,Y.npy"});
  }
}

TEST(Cifar10, ReadsRecords) {
  TemporaryDirectory files;
  for (int i = 1; i <= 5; ++i) files.file("data_batch_" + std::to_string(i) + ".bin", batch(i));
  files.file("test_batch.bin", batch(0));
  Dataset test = load_dataset("cifar10:" + files.path());
  EXPECT_EQ(test.count, 10000);
  EXPECT_EQ(test.classes, 10);
  EXPECT_EQ(test.shape, (Shape{3, 32, 32}));
  EXPECT_EQ(test.labels(8, 4), (std::vector<long>{8, 9, 0, 1}));
  EXPECT_FLOAT_EQ(test.images(51, 1).as<float>()[0], 0.2F);
  Dataset train = load_dataset("cifar10:" + files.path(), Split::train, Normalize::cifar);
  EXPECT_EQ(train.count, 50000);
  EXPECT_EQ(train.labels(9999, 3), (std::vector<long>{0, 2, 3}));
  Array images = train.images(8000, 4000);  // from two batches
  for (size_t i : {0, 1999, 2000, 3999}) {
    size_t shift = i < 2000 ? 8001 + i : i - 2000 + 2;
    float byte = static_cast<float>((shift + 1) % 256);
    EXPECT_FLOAT_EQ(images.as<float>()[i * 3072 + 1024], (byte / 255 - 0.4822F) / 0.2435F) << i;
  }
}

TEST(Cifar10, FindsTheFolderOfTheArchive) {
  TemporaryDirectory files;
  std::filesystem::create_directory(files.file("cifar-10-batches-bin"));
  files.file("cifar-10-batches-bin/test_batch.bin", batch(0));
  EXPECT_EQ(load_dataset("cifar10:" + files.path()).count, 10000);
}

TEST(Cifar10, RefusesWhatIsMissingOrDamaged) {
  TemporaryDirectory files;
  std::string spec = "cifar10:" + files.path();
  expect_failure([&] { load_dataset(spec + "/none"); }, {"no directory", "/none"});
  expect_failure([&] { load_dataset(spec); }, {"test_batch.bin", "No such file"});
  expect_failure([&] { load_dataset(spec, Split::train); }, {"data_batch_1.bin", "No such file"});
  std::string content = batch(0);
  files.file("test_batch.bin", content.substr(0, 5000));
  expect_failure([&] { load_dataset(spec); },
                 {"test_batch.bin", "has 5000 bytes", "has 30730000", "truncated"});
  files.file("test_batch.bin", content + "x");
  expect_failure([&] { load_dataset(spec); }, {"has 30730001 bytes", "no such batch"});
  content[123 * record] = 10;
  files.file("test_batch.bin", content);
  Dataset data = load_dataset(spec);
  EXPECT_EQ(data.labels(122, 1), std::vector<long>{2});
  expect_failure([&] { data.labels(100, 50); }, {"test_batch.bin", "label 10 in record 123"});
}

class NpyDataset : public ::testing::Test {
 protected:
  Dataset load(const Array& images, const Array& labels, Normalize normalize = Normalize::none) {
    write_npy(files_.file("x.npy"), images);
    write_npy(files_.file("y.npy"), labels);
    return load_dataset("npy:" + files_.file("x.npy") + "," + files_.file("y.npy"), Split::test,
                        normalize);
  }

  TemporaryDirectory files_;
};

TEST_F(NpyDataset, NumbersAreTakenAsTheyAre) {
  std::vector<double> values(24);
  std::iota(values.begin(), values.end(), -3);
  for (Element element : {Element::f32, Element::f64, Element::f16, Element::i32, Element::i8}) {
    Dataset data = load(Array::of_reals(element, {4, 2, 1, 3}, values),
                        Array::of<int64_t>({4}, {0, 2, 1, 2}), Normalize::imagenet);
    EXPECT_EQ(data.count, 4);
    EXPECT_EQ(data.classes, 3);
    EXPECT_EQ(data.shape, (Shape{2, 1, 3}));
    EXPECT_EQ(data.images(1, 2).reals(),
              std::vector<double>(values.begin() + 6, values.begin() + 18));
    EXPECT_EQ(data.labels(1, 3), (std::vector<long>{2, 1, 2}));
  }
}

TEST_F(NpyDataset, BytesAreScaledAndNormalised) {
  Array images = Array::of<uint8_t>({2, 3, 1, 1}, {0, 51, 255, 102, 153, 204});
  Array labels = Array::of<int32_t>({2, 1}, {0, 1});
  Dataset data = load(images, labels);
  EXPECT_FLOAT_EQ(data.images(1, 1).as<float>()[0], 0.4F);
  data = load(images, labels, Normalize::imagenet);
  EXPECT_FLOAT_EQ(data.images(1, 1).as<float>()[1], (0.6F - 0.456F) / 0.224F);
}

TEST_F(NpyDataset, RefusesFilesThatDoNotBelongTogether) {
  Array images(Element::f32, {2, 3, 4, 4}), labels(Element::i64, {2});
  expect_failure([&] { load(images, Array(Element::i64, {3})); },
                 {"x.npy", "2 images", "y.npy", "3 labels"});
  expect_failure([&] { load(Array(Element::f32, {2, 3}), labels); }, {"x.npy", "shape 2x3"});
  expect_failure([&] { load(Array(Element::f32, {0, 3, 4, 4}), labels); }, {"x.npy", "0x3x4x4"});
  expect_failure([&] { load(images, Array(Element::i64, {2, 2})); }, {"y.npy", "shape 2x2"});
  expect_failure([&] { load(images, Array(Element::f32, {2})); }, {"y.npy", "labels are integers"});
  expect_failure(
      [&] {
        load(images, Array::of<int64_t>({2}, {0, -1}));
      },
      {"y.npy", "label -1 in record 1"});
  expect_failure(
      [&] {
        load(images, Array::of<int64_t>({2}, {1L << 40, 0}));
      },
      {"y.npy", "label 1099511627776 in record 0"});
  expect_failure(
      [&] {
        load(Array(Element::u8, {2, 1, 4, 4}), labels, Normalize::cifar);
      },
      {"x.npy", "1 channels", "'none'"});
  EXPECT_EQ(load(Array(Element::u8, {2, 5, 4, 4}), labels).images(0, 2).count(), 160);
  expect_failure([&] { load_dataset("npy:none.npy,y.npy"); }, {"none.npy", "No such file"});
}

TEST(Dataset, ValidatesWithTheSamplesThatTrainingLeavesOut) {
  // What torch.randperm(50000, generator=torch.Generator().manual_seed(0)) begins with.
  std::vector<long> held = validation_samples(50000);
  ASSERT_EQ(held.size(), 5000U);
  EXPECT_EQ(std::vector<long>(held.begin(), held.begin() + 4),
            (std::vector<long>{36044, 49165, 37807, 11341}));
  EXPECT_EQ(validation_samples(20).size(), 2U);
  EXPECT_EQ(validation_samples(3).size(), 1U);

  Dataset all = load_dataset("synthetic:7,50", Split::train);
  Dataset validation = load_dataset("synthetic:7,50", Split::validation);
  Dataset learnt = load_dataset("synthetic:7,50", Split::learnt);
  ASSERT_EQ(validation.count, 5);
  ASSERT_EQ(learnt.count, 45);
  std::vector<long> held_of_50 = validation_samples(50);
  for (long i = 0; i < validation.count; ++i) {
    EXPECT_EQ(validation.images(i, 1), all.images(held_of_50[static_cast<size_t>(i)], 1));
    EXPECT_EQ(validation.labels(i, 1), all.labels(held_of_50[static_cast<size_t>(i)], 1));
  }
  EXPECT_EQ(learnt.images(0, learnt.count).shape(), (Shape{45, 3, 32, 32}));
}

}  // namespace
}  // namespace lathe::test
