// Asio's TLS, compiled once: see runner/asio.cpp.
#include <boost/asio/ssl/impl/src.hpp>
