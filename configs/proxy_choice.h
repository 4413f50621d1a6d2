#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "configs/api_server_config.h"
#include "configs/environment.h"
#include "runner/result.h"

namespace mkp {

// Reads "http://[user:password@]proxy:3128" or "socks5://...". Without a port it is the scheme's:
// 80, 1080. What is wrong with another text is said without its user and password.
Result<ProxyServer> parse_proxy(std::string_view text);

// The proxy that HTTPS_PROXY, or HTTP_PROXY without TLS, names for this server unless NO_PROXY
// excepts it; nothing when there is none. Names in lower case count where the others are empty.
// NO_PROXY has, with commas between them: "*"; names, which stand for their subdomains too, or with
// a dot or "*." in front for those alone; addresses; and prefixes such as 10.0.0.0/8. All but
// prefixes may have a port. This machine itself is never reached through a proxy.
Result<std::optional<ProxyServer>> proxy_of(const ServerUrl& server,
                                            const Environment& environment);

}  // namespace mkp
