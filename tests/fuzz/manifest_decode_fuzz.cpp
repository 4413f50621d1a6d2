#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "informer/manifest_decode.h"
#include "informer/manifest_problem.h"

// Whatever a file of the manifest directory says: it is read, or refused with problems that can be
// printed. An object that is read can be filed under its key.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mkp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const DecodedManifests decoded = decode_manifests("fuzzed.yaml", text);
  for (const ManifestProblem& problem : decoded.problems) (void)to_text(problem);
  for (const Manifest& manifest : decoded.manifests) {
    for (const ManifestProblem& problem : manifest.problems) (void)to_text(problem);
    if (manifest.object != nullptr && manifest.key.empty()) std::abort();
  }
  return 0;
}
