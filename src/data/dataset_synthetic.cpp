// dataset_synthetic.cpp: a dataset that is made up. A class is a texture: a few waves of low
// frequency, taken from those that all classes share, each with a strength and a phase per channel.
// An image shows the texture of its class at a random place, fainter that of another class, a tint
// and noise. As the place is random, no single pixel tells the class, and a linear model learns
// little but the tint. All arithmetic is on integers, so that every machine makes the same images.
// What a network reads decides how many channels, rows and columns there are; tokens are made by
// dataset_tokens.cpp. Interface: synthetic_dataset() of dataset_sources.h.
#include <algorithm>
#include <array>
#include <memory>

#include "base/random.h"
#include "data/dataset_sources.h"

namespace lathe {
namespace {

constexpr long wave_pool = 12, waves_per_class = 3;
constexpr long turn = 1024;       // steps of a full period
constexpr long one = 1L << 12;    // the height of a sine
constexpr long grey_level = 256;  // units of brightness per level of the 255 of a byte
constexpr long texture_strength = 22, tint_strength = 10, noise_strength = 48;

struct Wave {
  long rows = 0, columns = 0;         // periods along the image
  std::vector<long> strength, phase;  // of each channel
};

struct Texture {
  std::array<Wave, waves_per_class> waves;
  std::vector<long> tint;  // of each channel
};

/// What an image is made of, as a network reads it.
struct Extents {
  size_t channels = 1;
  long rows = 1, columns = 1;

  long pixels() const { return rows * columns; }
};

struct Textures {
  Extents extents;
  std::array<long, turn> sines{};
  std::vector<Texture> textures;  // of each class
};

/// Where and how strongly an image shows a texture.
struct View {
  const Texture& texture;
  long row = 0, column = 0;
  long percent = 100;
};

/// Takes the last two extents of a sample as rows and columns, and all before them as channels.
Extents extents_of(const Shape& shape) {
  Extents result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i + 1 == shape.size()) {
      result.columns = shape[i];
    } else if (i + 2 == shape.size()) {
      result.rows = shape[i];
    } else {
      result.channels *= static_cast<size_t>(shape[i]);
    }
  }
  return result;
}

/// Returns a period of the sine, by its Taylor series.
std::array<long, turn> sine_table() {
  std::array<long, turn> result{};
  for (long i = 0; i < turn; ++i) {
    double x = static_cast<double>(i - turn / 2) / turn * 2 * 3.14159265358979324;
    double sum = 0, term = -x;  // sin(x - pi) = -sin(x)
    for (int k = 1; k < 40; k += 2) {
      sum += term;
      term *= -x * x / ((k + 1) * (k + 2));
    }
    double rounded = sum * one + (sum < 0 ? -0.5 : 0.5);
    result[static_cast<size_t>(i)] = static_cast<long>(rounded);
  }
  return result;
}

long between(Random& random, long low, long high) {
  return low + static_cast<long>(random.below(static_cast<uint64_t>(high - low + 1)));
}

/// Draws the frequencies of the waves that classes choose from, no two alike.
std::vector<Wave> draw_pool(Random& random) {
  std::vector<Wave> pool;
  while (pool.size() < wave_pool) {
    Wave wave{.rows = between(random, 0, 6), .columns = between(random, -6, 6)};
    long square = wave.rows * wave.rows + wave.columns * wave.columns;
    bool known = std::any_of(pool.begin(), pool.end(), [&](const Wave& other) {
      return other.rows == wave.rows && other.columns == wave.columns;
    });
    if (square >= 4 && square <= 40 && !known) pool.push_back(wave);
  }
  return pool;
}

Texture draw_texture(Random& random, std::vector<Wave> pool, size_t channels) {
  Texture texture;
  texture.tint.resize(channels);
  for (size_t i = 0; i < waves_per_class; ++i) {
    std::swap(pool[i], pool[i + random.below(pool.size() - i)]);
    texture.waves[i] = pool[i];
    texture.waves[i].strength.resize(channels);
    texture.waves[i].phase.resize(channels);
    for (long& strength : texture.waves[i].strength) strength = between(random, 30, 100);
    for (long& phase : texture.waves[i].phase) phase = between(random, 0, turn - 1);
  }
  for (long& tint : texture.tint) tint = between(random, -100, 100);
  return texture;
}

Textures draw_textures(uint64_t seed, const Shape& shape, long classes) {
  Random random(seed, "synthetic textures");
  Textures result;
  result.extents = extents_of(shape);
  result.sines = sine_table();
  std::vector<Wave> pool = draw_pool(random);
  for (long i = 0; i < classes; ++i) {
    result.textures.push_back(draw_texture(random, pool, result.extents.channels));
  }
  return result;
}

/// Adds one channel of a texture to the brightness of the pixels.
void add_texture(const Textures& all, const View& view, size_t channel,
                 std::span<long> brightness) {
  const Extents& extents = all.extents;
  for (const Wave& wave : view.texture.waves) {
    long strength = wave.strength[channel] * view.percent * texture_strength;
    for (long i = 0; i < extents.pixels(); ++i) {
      long row = i / extents.columns + view.row, column = i % extents.columns + view.column;
      long angle = wave.rows * row * turn / extents.rows +
                   wave.columns * column * turn / extents.columns + wave.phase[channel];
      long height = all.sines[static_cast<size_t>(angle & (turn - 1))];
      brightness[static_cast<size_t>(i)] += strength * height / (10000 * one / grey_level);
    }
  }
}

/// Returns noise of mean 0 and deviation 1 grey level, nearly normal: a sum of four numbers.
long noise(Random& random) {
  uint64_t bits = random.bits();
  long sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<long>((bits >> (16 * i)) & 0xffff);
  return (sum - 2 * 0xffff) * grey_level / 37837;
}

void draw_image(const Textures& all, const Synthesis& how, long image, std::span<uint8_t> bytes) {
  Random random(how.seed, fmt::format("synthetic image {} {}", static_cast<int>(how.split), image));
  auto classes = static_cast<long>(all.textures.size());
  long label = synthetic_label(how, classes, image);
  long other = classes == 1 ? 0 : (label + between(random, 1, classes - 1)) % classes;
  auto view = [&](long shown, long least, long most) {
    return View{all.textures[static_cast<size_t>(shown)], between(random, 0, all.extents.rows - 1),
                between(random, 0, all.extents.columns - 1), between(random, least, most)};
  };
  View front = view(label, 60, 120), back = view(other, 30, 80);
  auto pixels = static_cast<size_t>(all.extents.pixels());
  for (size_t c = 0; c < all.extents.channels; ++c) {
    std::vector<long> brightness(pixels, 128 * grey_level);
    add_texture(all, front, c, brightness);
    add_texture(all, back, c, brightness);
    long tint = front.texture.tint[c] + between(random, -200, 200);
    for (size_t i = 0; i < pixels; ++i) {
      long level =
          brightness[i] + tint * tint_strength * grey_level / 100 + noise_strength * noise(random);
      bytes[c * pixels + i] = static_cast<uint8_t>(std::clamp(level / grey_level, 0L, 255L));
    }
  }
}

/// Makes up what one input reads: images.
Dataset synthetic_images(const Synthesis& how, const InputForm& form, long classes) {
  Dataset dataset{.name = "synthetic", .count = how.count, .classes = classes, .shape = form.shape};
  auto textures = std::make_shared<const Textures>(draw_textures(how.seed, form.shape, classes));
  dataset.read_images = [=](long first, std::span<float> values) {
    const Extents& extents = textures->extents;
    std::vector<uint8_t> bytes(extents.channels * static_cast<size_t>(extents.pixels()));
    for (; !values.empty(); values = values.subspan(bytes.size())) {
      draw_image(*textures, how, first++, bytes);
      normalise_bytes(bytes, static_cast<long>(extents.channels), extents.pixels(), how.normalize,
                      values.first(bytes.size()));
    }
  };
  return dataset;
}

Dataset synthetic_input(const Synthesis& how, const SampleForm& form, size_t input) {
  const InputForm& what = form.inputs.at(input);
  return what.below > 0 ? synthetic_tokens(how, what, form.classes, input)
                        : synthetic_images(how, what, form.classes);
}

}  // namespace

long synthetic_label(const Synthesis& how, long classes, long sample) {
  Random random(how.seed, fmt::format("synthetic labels {} {}", static_cast<int>(how.split),
                                      sample / classes));
  std::vector<long> order(static_cast<size_t>(classes));
  for (size_t i = 0; i < order.size(); ++i) {
    size_t place = random.below(i + 1);
    order[i] = order[place];
    order[place] = static_cast<long>(i);
  }
  return order[static_cast<size_t>(sample % classes)];
}

Dataset synthetic_dataset(const Synthesis& how, const SampleForm& form) {
  Dataset dataset = synthetic_input(how, form, 0);
  for (size_t i = 1; i < form.inputs.size(); ++i) {
    dataset.others.push_back(synthetic_input(how, form, i));
  }
  dataset.read_labels = [how, classes = form.classes](long first, std::span<long> labels) {
    for (long& label : labels) label = synthetic_label(how, classes, first++);
  };
  dataset.in_form = [how](const SampleForm& other) { return synthetic_dataset(how, other); };
  return dataset;
}

}  // namespace lathe
