#include "informer/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <new>

namespace mkp {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;
constexpr std::size_t kPiece = 65536;

}  // namespace

void Gunzip::Free::operator()(z_stream_s* stream) const noexcept {
  inflateEnd(stream);
  delete stream;
}

Gunzip::Gunzip() {
  auto stream = std::make_unique<z_stream_s>();
  if (inflateInit2(stream.get(), kGzipOnly) != Z_OK) throw std::bad_alloc();
  stream_.reset(stream.release());
}

Result<> Gunzip::put(std::string_view bytes, std::string& out) {
  z_stream_s& stream = *stream_;
  // zlib reads through a pointer to non-const that it does not write to.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::array<char, kPiece> piece{};
  for (;;) {
    if (stream.avail_in > 0) open_ = true;
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int outcome = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
    if (outcome == Z_STREAM_END) {
      open_ = false;
      inflateReset(&stream);
      if (stream.avail_in == 0) return {};
      continue;
    }
    if (outcome == Z_BUF_ERROR) return {};  // no more input, or none left to write
    if (outcome != Z_OK) {
      return fail(Errc::Invalid,
                  fmt::format("undo gzip: {}", stream.msg != nullptr ? stream.msg : "broken data"));
    }
    if (stream.avail_in == 0 && stream.avail_out != 0) return {};
  }
}

}  // namespace mkp
