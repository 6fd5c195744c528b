// image_read.cpp: PNG by libpng's simplified interface, JPEG by libjpeg, whose errors jump: every
// call of it is made by a step of trivial local variables, run by guarded(). Interface:
// read_image() of image.h.
#include "data/image.h"

#include <cstdio>  // before jpeglib.h, which needs FILE

#include <jpeglib.h>
// After jpeglib.h, which it builds on.
#include <jerror.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/file.h"

namespace lathe {
namespace {

constexpr long most_bytes = 1L << 30;

/// Refuses images that are too large, or that claim more pixels than "bytes" bytes can hold, where
/// a byte can hold "density" of them: before anything is allocated for them.
void check_pixels(const std::string& path, long rows, long columns, size_t bytes, long density) {
  if (rows * columns > most_pixels) {
    fail("the image '{}' has {}x{} pixels; the most that is read is {} in all", path, rows, columns,
         most_pixels);
  }
  if (rows * columns / density > static_cast<long>(bytes)) {
    fail("the image '{}' is truncated: its {} bytes cannot hold {}x{} pixels", path, bytes, rows,
         columns);
  }
}

/// Frees what libpng allocated.
struct PngReader {
  png_image image{};

  PngReader() { image.version = PNG_IMAGE_VERSION; }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_image_free(&image); }
};

[[noreturn]] void fail_png(const std::string& path, const png_image& image) {
  fail("the PNG image '{}' cannot be decoded: {}", path, image.message);
}

Array read_png(const std::string& path, std::span<const std::byte> bytes) {
  PngReader reader;
  png_image& image = reader.image;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    fail_png(path, image);
  }
  long rows = image.height, columns = image.width;
  // Inflating makes 1032 bytes of one at the most, and each of them has at most 8 pixels.
  check_pixels(path, rows, columns, bytes.size(), 1032L * 8);
  // With the alpha channel, as libpng would otherwise blend the colours with a background.
  image.format = PNG_FORMAT_RGBA;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  std::vector<uint8_t> pixels(static_cast<size_t>(rows * columns * 4));
  if (png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) == 0) fail_png(path, image);
  for (size_t i = 0; i < pixels.size() / 4; ++i) {
    std::copy_n(pixels.begin() + static_cast<long>(4 * i), 3,
                pixels.begin() + static_cast<long>(3 * i));
  }
  pixels.resize(pixels.size() / 4 * 3);
  return Array::of<uint8_t>({rows, columns, 3}, pixels);
}

/// All that the steps of reading a JPEG file share.
struct JpegReader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = {};
  std::span<const std::byte> bytes;
  uint8_t* pixels = nullptr;

  JpegReader() = default;
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&info); }
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* reader = static_cast<JpegReader*>(info->client_data);
  info->err->format_message(info, reader->message);
  std::longjmp(reader->jump, 1);
}

/// Takes data that end too early for an error; libjpeg would fill the rest with grey.
void hear_warning(j_common_ptr info, int level) {
  bool early_end = info->err->msg_code == JWRN_JPEG_EOF || info->err->msg_code == JWRN_HIT_MARKER;
  if (level < 0 && early_end) leave(info);
}

/// Does the step end without an error? Otherwise the reader has its message.
bool guarded(JpegReader& reader, void (*step)(JpegReader&)) {
  if (setjmp(reader.jump) != 0) return false;
  step(reader);
  return true;
}

void read_jpeg_header(JpegReader& reader) {
  reader.info.err = jpeg_std_error(&reader.errors);
  reader.info.client_data = &reader;
  reader.errors.error_exit = leave;
  reader.errors.emit_message = hear_warning;
  jpeg_create_decompress(&reader.info);
  jpeg_mem_src(&reader.info, reinterpret_cast<const unsigned char*>(reader.bytes.data()),
               reader.bytes.size());
  jpeg_read_header(&reader.info, TRUE);
}

void decode_jpeg(JpegReader& reader) {
  jpeg_decompress_struct& info = reader.info;
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = reader.pixels + size_t{info.output_scanline} * info.output_width * 3;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
}

[[noreturn]] void fail_jpeg(const std::string& path, const JpegReader& reader) {
  fail("the JPEG image '{}' cannot be decoded: {}", path, reader.message);
}

Array read_jpeg(const std::string& path, std::span<const std::byte> bytes) {
  JpegReader reader;
  reader.bytes = bytes;
  if (!guarded(reader, read_jpeg_header)) fail_jpeg(path, reader);
  long rows = reader.info.image_height, columns = reader.info.image_width;
  // A block of 64 pixels takes a bit at least; arithmetic coding can do with somewhat less.
  check_pixels(path, rows, columns, bytes.size(), 8L * 64 * 8);
  if (reader.info.num_components == 4) {
    fail("the JPEG image '{}' has the colours of print, CMYK: convert it to RGB first", path);
  }
  std::vector<uint8_t> pixels(static_cast<size_t>(rows * columns * 3));
  reader.pixels = pixels.data();
  if (!guarded(reader, decode_jpeg)) fail_jpeg(path, reader);
  return Array::of<uint8_t>({rows, columns, 3}, pixels);
}

bool begins_with(std::span<const std::byte> bytes, std::string_view start) {
  return bytes.size() >= start.size() &&
         std::equal(start.begin(), start.end(), reinterpret_cast<const char*>(bytes.data()));
}

}  // namespace

Array read_image(const std::string& path) {
  InputFile file(path);
  if (file.size() > most_bytes) {
    fail("'{}' has {} bytes; images of more than {} are not read", path, file.size(), most_bytes);
  }
  std::vector<std::byte> bytes = file.read(0, file.size());
  if (begins_with(bytes, "\x89PNG\r\n\x1a\n")) return read_png(path, bytes);
  if (begins_with(bytes, "\xff\xd8\xff")) return read_jpeg(path, bytes);
  fail("'{}' is neither a PNG nor a JPEG image: convert it to one of them", path);
}

}  // namespace lathe
