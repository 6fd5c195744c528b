// product.cpp: counting images that are products. Interface: product.h.
#include "poly/product.h"

#include <algorithm>

namespace lathe::poly {
namespace {

/// More values than this are not written down for a coordinate.
constexpr long most_values = 1L << 16;

/// For each coordinate of an image, its values in order.
using Product = std::vector<std::vector<long>>;

/// Returns the values of a linear function of some coordinates of a box; nothing if they are many.
std::optional<std::vector<long>> values_of(const Affine& row, const std::vector<Interval>& box) {
  std::vector<long> values{row.constant};
  for (size_t i = 0; i < box.size(); ++i) {
    if (row.coefficients[i] == 0) continue;
    if (static_cast<long>(values.size()) * box[i].size() > most_values) return std::nullopt;
    std::vector<long> sums;
    for (long x = box[i].lower; x <= box[i].upper; ++x) {
      for (long value : values) sums.push_back(value + row.coefficients[i] * x);
    }
    std::sort(sums.begin(), sums.end());
    sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
    values = std::move(sums);
  }
  return values;
}

std::optional<Product> product_of(const Image& image) {
  auto box = sides(image.set);
  if (!box) return std::nullopt;
  Product product;
  std::vector<bool> taken(box->size(), false);  // by an earlier coordinate of the image
  for (const isl::aff& part : parts(image.function)) {
    Affine row = take_apart(part);
    if (!row.is_linear()) return std::nullopt;
    for (size_t i = 0; i < box->size(); ++i) {
      if (row.coefficients[i] == 0 || (*box)[i].size() == 1) continue;
      if (taken[i]) return std::nullopt;
      taken[i] = true;
    }
    auto values = values_of(row, *box);
    if (!values) return std::nullopt;
    product.push_back(std::move(*values));
  }
  return product;
}

bool includes(const Product& all, const Product& some) {
  for (size_t d = 0; d < all.size(); ++d) {
    if (!std::includes(all[d].begin(), all[d].end(), some[d].begin(), some[d].end())) return false;
  }
  return true;
}

/// Returns the products that no other one includes.
std::vector<Product> largest_of(const std::vector<Product>& products) {
  std::vector<Product> result;
  for (const Product& product : products) {
    auto is_in = [&](const Product& other) { return includes(other, product); };
    if (std::any_of(result.begin(), result.end(), is_in)) continue;
    std::erase_if(result, [&](const Product& other) { return includes(product, other); });
    result.push_back(product);
  }
  return result;
}

}  // namespace

std::optional<long> count_products(const std::vector<Image>& images) {
  std::vector<Product> products;
  for (const Image& image : images) {
    auto product = product_of(image);
    if (!product) return std::nullopt;
    products.push_back(std::move(*product));
  }
  products = largest_of(products);
  if (products.empty()) return 0;
  long count = 1;
  bool differ = false;
  for (size_t d = 0; d < products.front().size(); ++d) {
    std::vector<long> together;
    bool same = true;
    for (const Product& product : products) {
      same = same && product[d] == products.front()[d];
      together.insert(together.end(), product[d].begin(), product[d].end());
    }
    if (!same && differ) return std::nullopt;
    differ = differ || !same;
    std::sort(together.begin(), together.end());
    auto end = std::unique(together.begin(), together.end());
    count *= static_cast<long>(end - together.begin());
  }
  return count;
}

}  // namespace lathe::poly
