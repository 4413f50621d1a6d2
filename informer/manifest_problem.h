#pragma once

#include <string>

namespace mkp {

// One thing that is wrong with the manifests now, and where. Parts that are not known are empty or
// 0.
struct ManifestProblem {
  std::string file;    // its name within the directory; empty for a problem of the directory itself
  int line = 0;        // counted from 1
  std::string object;  // "Service shop/web"
  std::string field;   // "spec.ports[0].port"
  std::string what;

  bool operator==(const ManifestProblem&) const = default;
};

// "svc.yaml:12: Service shop/web: spec.ports[0].port: 70000 is not a port (1-65535)"
std::string to_text(const ManifestProblem& problem);

}  // namespace mkp
