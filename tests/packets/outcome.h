#pragma once

#include <string>
#include <vector>

#include "tests/packets/packet.h"

namespace mkp::packets {

// Where a packet was seen after the node had dealt with it.
enum class Place { Pods, Outside, Local };  // Local: delivered to the node's own sockets

struct Seen {
  Place place = Place::Pods;
  Sighting sighting;
};

// What became of one packet.
struct Outcome {
  enum class Kind {
    Translated,
    Passed,    // came out, or reached the local sockets, just as it was sent
    Rejected,  // its sender was told: port unreachable, or a TCP reset
    Dropped,
    Unexplained  // none of those; `why` says what was seen
  };
  Kind kind = Kind::Unexplained;
  AddressPort destination{};  // Translated
  bool masqueraded = false;   // Translated
  bool refused =
      false;  // Passed: it reached the local stack, which told the sender that nobody listens
  std::string why{};  // Unexplained
};

std::string to_text(const Outcome& outcome);

// What became of `sent`, given everything that was seen afterwards.
//
// A packet that reaches the local sockets is passed, whatever the local stack then answers (it
// refuses connections, as nobody listens): a packet that our rules reject never gets that far.
Outcome judge(const Packet& sent, const std::vector<Seen>& seen);

}  // namespace mkp::packets
