// Images: files that the test writes with libpng and libjpeg are read again, sizes are changed as
// by hand, and damaged files are refused.
#include "data/image.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>  // before jpeglib.h, which needs FILE
#include <cstdlib>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

#include "base/random.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Writes "samples" as a PNG image of a format of libpng's simplified interface.
void write_png(const std::string& path, uint32_t rows, uint32_t columns, uint32_t format,
               const void* samples) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = columns;
  image.height = rows;
  image.format = format;
  ASSERT_NE(png_image_write_to_file(&image, path.c_str(), 0, samples, 0, nullptr), 0);
}

/// Writes "samples" as a JPEG image of the best quality.
void write_jpeg(const std::string& path, unsigned rows, unsigned columns, J_COLOR_SPACE space,
                int channels, std::vector<uint8_t> samples) {
  FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  jpeg_stdio_dest(&info, file);
  info.image_width = columns;
  info.image_height = rows;
  info.in_color_space = space;
  info.input_components = channels;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < rows) {
    JSAMPROW row = samples.data() + size_t{info.next_scanline} * columns * channels;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::fclose(file);
}

std::vector<uint8_t> random_bytes(size_t count) {
  Random random(1);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.below(256));
  return bytes;
}

Array constant(long rows, long columns, uint8_t value) {
  std::vector<uint8_t> pixels(static_cast<size_t>(rows * columns * 3), value);
  return Array::of<uint8_t>({rows, columns, 3}, pixels);
}

/// Returns an image whose red is 2 x row, whose green is 3 x column and whose blue is 7.
Array gradient(long rows, long columns) {
  std::vector<uint8_t> pixels;
  for (long i = 0; i < rows * columns; ++i) {
    for (long value : {2 * (i / columns), 3 * (i % columns), 7L}) {
      pixels.push_back(static_cast<uint8_t>(value));
    }
  }
  return Array::of<uint8_t>({rows, columns, 3}, pixels);
}

uint8_t at(const Array& image, long row, long column, long channel) {
  return image.as<uint8_t>()[static_cast<size_t>((row * image.shape()[1] + column) * 3 + channel)];
}

TEST(ReadImage, PngIsExact) {
  TemporaryDirectory files;
  std::vector<uint8_t> pixels = random_bytes(5 * 7 * 3);
  write_png(files.file("a.png"), 5, 7, PNG_FORMAT_RGB, pixels.data());
  EXPECT_EQ(read_image(files.file("a.png")), Array::of<uint8_t>({5, 7, 3}, pixels));
}

TEST(ReadImage, PngOfOtherFormatsBecomesRgb) {
  TemporaryDirectory files;
  std::vector<uint8_t> grey = {0, 100, 255, 7};
  write_png(files.file("grey.png"), 2, 2, PNG_FORMAT_GRAY, grey.data());
  EXPECT_EQ(read_image(files.file("grey.png")),
            Array::of<uint8_t>({2, 2, 3}, {0, 0, 0, 100, 100, 100, 255, 255, 255, 7, 7, 7}));
  std::vector<uint8_t> clear = {10, 20, 30, 0, 40, 50, 60, 255};
  write_png(files.file("clear.png"), 1, 2, PNG_FORMAT_RGBA, clear.data());
  EXPECT_EQ(read_image(files.file("clear.png")),
            Array::of<uint8_t>({1, 2, 3}, {10, 20, 30, 40, 50, 60}));
  std::vector<uint16_t> deep = {0, 65535, 65535};
  write_png(files.file("deep.png"), 1, 1, PNG_FORMAT_LINEAR_RGB, deep.data());
  EXPECT_EQ(read_image(files.file("deep.png")), Array::of<uint8_t>({1, 1, 3}, {0, 255, 255}));
}

TEST(ReadImage, JpegIsNear) {
  TemporaryDirectory files;
  Array image = gradient(40, 56);
  std::vector<uint8_t> pixels(image.as<uint8_t>().begin(), image.as<uint8_t>().end());
  write_jpeg(files.file("a.jpg"), 40, 56, JCS_RGB, 3, pixels);
  Array read = read_image(files.file("a.jpg"));
  ASSERT_EQ(read.shape(), (Shape{40, 56, 3}));
  for (size_t i = 0; i < pixels.size(); ++i) {
    ASSERT_NEAR(read.as<uint8_t>()[i], pixels[i], 6) << "byte " << i;
  }
}

TEST(ReadImage, GreyJpegBecomesRgb) {
  TemporaryDirectory files;
  write_jpeg(files.file("a.jpg"), 9, 9, JCS_GRAYSCALE, 1, std::vector<uint8_t>(81, 90));
  EXPECT_EQ(read_image(files.file("a.jpg")), constant(9, 9, 90));
}

TEST(ReadImage, ContentDecidesNotTheName) {
  TemporaryDirectory files;
  std::vector<uint8_t> pixels = random_bytes(12);
  write_png(files.file("a.jpg"), 2, 2, PNG_FORMAT_RGB, pixels.data());
  EXPECT_EQ(read_image(files.file("a.jpg")), Array::of<uint8_t>({2, 2, 3}, pixels));
}

TEST(ReadImage, RefusesCmyk) {
  TemporaryDirectory files;
  write_jpeg(files.file("a.jpg"), 8, 8, JCS_CMYK, 4, std::vector<uint8_t>(256, 90));
  expect_failure([&] { read_image(files.file("a.jpg")); }, {"a.jpg", "CMYK", "convert it to RGB"});
}

TEST(ReadImage, RefusesOtherFiles) {
  TemporaryDirectory files;
  for (std::string content : {"", "GIF89a and so on", "\x89PNX", "\xff\xd8"}) {
    std::string path = files.file("a.png", content);
    expect_failure([&] { read_image(path); }, {path, "is neither a PNG nor a JPEG image"});
  }
  expect_failure([&] { read_image(files.file("none.png")); }, {"none.png", "No such file"});
}

TEST(ReadImage, RefusesEveryTruncation) {
  TemporaryDirectory files;
  std::vector<uint8_t> pixels = random_bytes(24 * 24 * 3);
  write_png(files.file("whole.png"), 24, 24, PNG_FORMAT_RGB, pixels.data());
  write_jpeg(files.file("whole.jpg"), 24, 24, JCS_RGB, 3, pixels);
  for (const char* name : {"whole.png", "whole.jpg"}) {
    std::string content = content_of(files.file(name));
    // libpng needs no more than the last chunk with pixels, libjpeg no mark of the end.
    for (size_t size = 8; size + 40 < content.size(); size += 13) {
      std::string path = files.file("part", content.substr(0, size));
      expect_failure([&] { read_image(path); }, {path, "image"});
    }
  }
}

TEST(ReadImage, SurvivesDamage) {
  TemporaryDirectory files;
  std::vector<uint8_t> pixels = random_bytes(16 * 16 * 3);
  write_png(files.file("whole.png"), 16, 16, PNG_FORMAT_RGB, pixels.data());
  write_jpeg(files.file("whole.jpg"), 16, 16, JCS_RGB, 3, pixels);
  for (const char* name : {"whole.png", "whole.jpg"}) {
    std::string whole = content_of(files.file(name));
    Random random(2, name);
    for (int round = 0; round < 100; ++round) {
      std::string content = whole;
      for (int i = 0; i < 3; ++i) {
        content[random.below(content.size())] = static_cast<char>(random.below(256));
      }
      std::string path = files.file("damaged", content);
      std::string message = message_of([&] { read_image(path); });  // an image, or a clear refusal
      EXPECT_TRUE(message.empty() || message.find(path) != std::string::npos) << message;
    }
  }
}

TEST(ReadImage, RefusesClaimsOfManyPixels) {
  TemporaryDirectory files;
  write_jpeg(files.file("a.jpg"), 8, 8, JCS_GRAYSCALE, 1, std::vector<uint8_t>(64, 90));
  std::string content = content_of(files.file("a.jpg"));
  size_t frame = content.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  content.replace(frame + 5, 4, "\x7f\xff\x7f\xff");
  std::string path = files.file("large.jpg", content);
  expect_failure([&] { read_image(path); }, {path, "32767x32767 pixels; the most"});
  content.replace(frame + 5, 4, "\x20\x01\x20\x01");
  path = files.file("medium.jpg", content);
  expect_failure([&] { read_image(path); }, {path, "is truncated", "cannot hold 8193x8193 pixels"});
}

TEST(Resized, ConstantStaysConstant) {
  for (auto [rows, columns] : {std::pair{1, 1}, {3, 50}, {7, 9}, {64, 2}}) {
    for (uint8_t value : {0, 1, 200, 255}) {
      EXPECT_EQ(resized(constant(7, 9, value), rows, columns), constant(rows, columns, value));
    }
  }
}

TEST(Resized, SameSizeIsTheSameImage) {
  Array image = Array::of<uint8_t>({6, 5, 3}, random_bytes(90));
  EXPECT_EQ(resized(image, 6, 5), image);
}

TEST(Resized, GradientKeepsItsSlope) {
  Array half = resized(gradient(40, 60), 20, 30);
  for (long row = 1; row < 19; ++row) {
    for (long column = 1; column < 29; ++column) {
      EXPECT_NEAR(at(half, row, column, 0), 2 * (2 * row + 0.5), 0.51);
      EXPECT_NEAR(at(half, row, column, 1), 3 * (2 * column + 0.5), 1.01);
      EXPECT_EQ(at(half, row, column, 2), 7);
    }
  }
  Array twice = resized(gradient(40, 60), 80, 120);
  for (long row = 1; row < 79; ++row) {
    EXPECT_NEAR(at(twice, row, 50, 0), 2 * (0.5 * row - 0.25), 0.51);
  }
}

TEST(Resized, SmallCasesByHand) {
  // Growing: pixel centres at 0.25, 0.75, 1.25 and 1.75 between those at 0.5 and 1.5.
  Array two = Array::of<uint8_t>({1, 2, 3}, {0, 0, 0, 100, 100, 100});
  EXPECT_EQ(resized(two, 1, 4),
            Array::of<uint8_t>({1, 4, 3}, {0, 0, 0, 25, 25, 25, 75, 75, 75, 100, 100, 100}));
  // Shrinking by 2: weights 1 3 3 1 by 8; at the border 3 3 1 by 7, as one is beyond it.
  Array four = Array::of<uint8_t>({4, 1, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 70, 70, 70});
  EXPECT_EQ(resized(four, 2, 1), Array::of<uint8_t>({2, 1, 3}, {0, 0, 0, 30, 30, 30}));
}

TEST(Resized, ShrinkingAveragesFineDetail) {
  std::vector<uint8_t> stripes;
  for (int i = 0; i < 64 * 64; ++i) stripes.insert(stripes.end(), 3, i % 2 == 0 ? 0 : 200);
  Array small = resized(Array::of<uint8_t>({64, 64, 3}, stripes), 8, 8);
  for (uint8_t value : small.as<uint8_t>()) EXPECT_NEAR(value, 100, 4);
}

TEST(Resized, RefusesSizesThatAreNone) {
  expect_failure([] { resized(constant(2, 2, 0), 0, 5); }, {"cannot have the size 0x5"});
  expect_failure([] { resized(constant(2, 2, 0), 1L << 20, 1L << 20); }, {"cannot be resized"});
}

TEST(CentreCropped, IsTheMiddle) {
  Array middle = centre_cropped(gradient(10, 20), 4, 6);
  ASSERT_EQ(middle.shape(), (Shape{4, 6, 3}));
  EXPECT_EQ(at(middle, 0, 0, 0), 2 * 3);
  EXPECT_EQ(at(middle, 0, 0, 1), 3 * 7);
  EXPECT_EQ(at(middle, 3, 5, 1), 3 * 12);
  EXPECT_EQ(at(centre_cropped(gradient(5, 7), 4, 4), 0, 0, 0), 0);      // 0.5 rounds to 0
  EXPECT_EQ(at(centre_cropped(gradient(5, 7), 4, 4), 0, 0, 1), 3 * 2);  // 1.5 rounds to 2
}

TEST(CentreCropped, RefusesSmallerImages) {
  expect_failure([] { centre_cropped(constant(4, 9, 0), 5, 5); }, {"5x5", "4x9", "resize"});
}

TEST(Normalize, Names) {
  EXPECT_EQ(normalize_named("none"), Normalize::none);
  EXPECT_EQ(normalize_named("imagenet"), Normalize::imagenet);
  EXPECT_EQ(normalize_named("cifar"), Normalize::cifar);
  EXPECT_EQ(normalize_named("Cifar"), std::nullopt);
}

TEST(AsInput, SeparatesAndNormalisesChannels) {
  Array image = Array::of<uint8_t>({1, 2, 3}, {0, 51, 102, 153, 204, 255});
  Array plain = as_input(image, 1, 2, Normalize::none);
  ASSERT_EQ(plain.shape(), (Shape{1, 3, 1, 2}));
  std::vector<float> expected = {0, 0.6F, 0.2F, 0.8F, 0.4F, 1};
  for (size_t i = 0; i < 6; ++i) EXPECT_FLOAT_EQ(plain.as<float>()[i], expected[i]);
  Array normal = as_input(image, 1, 2, Normalize::imagenet);
  EXPECT_FLOAT_EQ(normal.as<float>()[0], -0.485F / 0.229F);
  EXPECT_FLOAT_EQ(normal.as<float>()[3], (0.8F - 0.456F) / 0.224F);
  normal = as_input(image, 1, 2, Normalize::cifar);
  EXPECT_FLOAT_EQ(normal.as<float>()[5], (1 - 0.4465F) / 0.2616F);
}

TEST(AsInput, CoversTheInputWhateverTheProportions) {
  for (auto [rows, columns] : {std::pair{32, 32}, {224, 224}, {20, 40}, {160, 130}}) {
    for (auto [height, width] : {std::pair{50, 200}, {200, 50}, {33, 33}, {1, 3}}) {
      Array input = as_input(constant(height, width, 51), rows, columns, Normalize::none);
      EXPECT_EQ(input.shape(), (Shape{1, 3, rows, columns}));
      for (float value : input.as<float>()) ASSERT_FLOAT_EQ(value, 0.2F);
    }
  }
}

TEST(AsInput, LargeInputsLoseTheBorder) {
  // 64 columns are resized to 256; the 224 in the middle leave out 4 of the 64 on each side.
  Array large = as_input(gradient(64, 64), 224, 224, Normalize::none);
  EXPECT_NEAR(large.as<float>()[224 * 224] * 255, 3 * 3.625, 1);
  Array small = as_input(gradient(64, 64), 64, 64, Normalize::none);
  EXPECT_FLOAT_EQ(small.as<float>()[64 * 64], 0);
}

}  // namespace
}  // namespace lathe::test
