#include "informer/http_response.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>

namespace mkp {
namespace {

// An answer taken apart: "200 application/json: body" and what was wrong, if anything.
std::string parsed(HttpResponse& response, std::string_view bytes, std::size_t piece) {
  for (std::size_t at = 0; at < bytes.size() && !response.has_ended(); at += piece) {
    const Result<std::size_t> taken = response.put(bytes.substr(at, piece));
    if (!taken) return taken.error().what;
  }
  if (!response.has_ended()) {
    const Result<> ended = response.put_end();
    if (!ended) return ended.error().what;
  }
  return std::to_string(response.head()->status) + ' ' + response.head()->content_type + ": " +
         response.take_body();
}

std::string parsed(std::string_view bytes, std::size_t piece = 1) {
  HttpResponse response;
  return parsed(response, bytes, piece);
}

std::string gzipped(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string chunk(const std::string& bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

constexpr std::string_view kChunked =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(HttpResponse, ReadsABodyOfANamedLengthByteByByte) {
  EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"),
            "200 text/plain: ok");
}

TEST(HttpResponse, ReadsChunksByteByByte) {
  EXPECT_EQ(parsed(std::string(kChunked) + "3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\n\r\n"),
            "200 application/json: abc0123456789abcdef");
}

TEST(HttpResponse, ReadsChunksInOnePiece) {
  EXPECT_EQ(parsed(std::string(kChunked) + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 4096),
            "200 application/json: abcde");
}

TEST(HttpResponse, GivesOutWhatHasComeOfAChunk) {
  HttpResponse response;
  ASSERT_TRUE(response.put(std::string(kChunked) + "a\r\nhalf "));
  EXPECT_EQ(response.take_body(), "half ");
  EXPECT_EQ(response.take_body(), "");
  EXPECT_FALSE(response.has_ended());
}

TEST(HttpResponse, ReadsABodyUpToTheEndOfTheConnection) {
  EXPECT_EQ(parsed("HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n\r\n<p>sorry"),
            "502 text/html: <p>sorry");
}

TEST(HttpResponse, TellsAnEndInTheMiddleOfAChunkFromOneBehindIt) {
  EXPECT_EQ(parsed(std::string(kChunked) + "5\r\nab"),
            "the connection ended in the middle of an answer");
  EXPECT_EQ(parsed(std::string(kChunked) + "2\r\nab\r\n"),
            "the connection ended in the middle of an answer");
}

TEST(HttpResponse, TellsAnEndWithinTheHead) {
  EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nConte"), "the connection ended before an answer");
  EXPECT_EQ(parsed(""), "the connection ended before an answer");
}

TEST(HttpResponse, RefusesWhatIsNoHttp) {
  EXPECT_EQ(parsed("SSH-2.0-OpenSSH_9.2\r\n\r\n").find("the answer is no proper HTTP"), 0U);
}

TEST(HttpResponse, RefusesAHeadWithoutEnd) {
  std::string endless = "HTTP/1.1 200 OK\r\n";
  while (endless.size() < 200'000) endless += "X-Padding: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
  EXPECT_EQ(parsed(endless, 1000).find("the answer is no proper HTTP"), 0U);
}

TEST(HttpResponse, RefusesAChunkHeadWithoutEnd) {
  const std::string endless = std::string(kChunked) + "1;" + std::string(200'000, 'x');
  EXPECT_EQ(parsed(endless, 1000).find("the answer is no proper HTTP"), 0U);
}

TEST(HttpResponse, BelievesNoContentLengthBeforeTheBytesAreThere) {
  EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\nab"),
            "the connection ended in the middle of an answer");
}

TEST(HttpResponse, LeavesBytesBehindTheAnswerToTheNext) {
  HttpResponse response;
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
  EXPECT_EQ(response.put(answer + "HTTP/1.1 404"), answer.size());
  EXPECT_TRUE(response.has_ended());
}

TEST(HttpResponse, KnowsWhetherAnotherRequestMayFollow) {
  HttpResponse open;
  parsed(open, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 99);
  EXPECT_TRUE(open.keeps_connection());
  HttpResponse closing;
  parsed(closing, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 99);
  EXPECT_FALSE(closing.keeps_connection());
}

TEST(HttpResponse, ReadsRetryAfterWhenItIsANumber) {
  HttpResponse response;
  parsed(response, "HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 99);
  EXPECT_EQ(response.head()->retry_after, std::chrono::seconds(7));
  HttpResponse date;
  parsed(date, "HTTP/1.1 429 Too Many\r\nRetry-After: Fri, 31\r\nContent-Length: 0\r\n\r\n", 99);
  EXPECT_EQ(date.head()->retry_after, std::nullopt);
}

TEST(HttpResponse, UndoesGzipOfSeveralMembersAsTheyCome) {
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(parsed(head + chunk(gzipped("first ")) + chunk(gzipped("second")) + "0\r\n\r\n"),
            "200 application/json: first second");
}

TEST(HttpResponse, UndoesGzipOfMuchMoreThanItsBytes) {
  const std::string zeros(3'000'000, '0');
  const std::string packed = gzipped(zeros);
  HttpResponse response;
  ASSERT_TRUE(response.put("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                           std::to_string(packed.size()) + "\r\n\r\n" + packed));
  EXPECT_EQ(response.take_body().size(), zeros.size());
}

TEST(HttpResponse, TellsGzipThatIsCutShort) {
  const std::string half = gzipped("something that is cut").substr(0, 15);
  EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + half),
            "the connection ended in the middle of an answer");
}

TEST(HttpResponse, RefusesGzipThatIsNone) {
  EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain text").find("undo gzip"),
            0U);
}

TEST(HttpResponse, ExpectsNoBodyAfterConnect) {
  HttpResponse response(HttpResponse::Body::None);
  ASSERT_TRUE(response.put("HTTP/1.1 200 Connection established\r\n\r\n"));
  EXPECT_TRUE(response.has_ended());
}

}  // namespace
}  // namespace mkp
