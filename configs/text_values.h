#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "configs/config.h"
#include "runner/result.h"

namespace mkp {

// Reads a value of Config as kube-proxy's command line writes it: lists with commas, gates as
// "A=true,B=false". What it is instead of a value reads like `"5 s" is not a duration such as 10ms
// or 1m30s`.
template <class T>
Result<T> parse_value(std::string_view text);

template <>
Result<bool> parse_value(std::string_view text);
template <>
Result<std::int32_t> parse_value(std::string_view text);
template <>
Result<float> parse_value(std::string_view text);
template <>
Result<std::string> parse_value(std::string_view text);
template <>
Result<Duration> parse_value(std::string_view text);
template <>
Result<ProxyMode> parse_value(std::string_view text);
template <>
Result<DetectLocalMode> parse_value(std::string_view text);
template <>
Result<LogFormat> parse_value(std::string_view text);
template <>
Result<IpAddress> parse_value(std::string_view text);
template <>
Result<std::vector<IpPrefix>> parse_value(std::string_view text);
template <>
Result<NodePortAddresses> parse_value(std::string_view text);
template <>
Result<std::vector<LoggingConfig::Module>> parse_value(std::string_view text);
template <>
Result<std::map<std::string, bool>> parse_value(std::string_view text);

// "IP" or "IP:port", an IPv6 address with a port in brackets. Without a port it takes the given
// one.
Result<ListenAddress> parse_listen_address(std::string_view text, std::uint16_t port);

// What parse_value() reads back as the same value.
std::string value_text(bool value);
std::string value_text(std::int32_t value);
std::string value_text(float value);
std::string value_text(const std::string& value);
std::string value_text(Duration value);
std::string value_text(ProxyMode value);
std::string value_text(DetectLocalMode value);
std::string value_text(LogFormat value);
std::string value_text(const IpAddress& value);
std::string value_text(const ListenAddress& value);
std::string value_text(const std::vector<IpPrefix>& value);
std::string value_text(const NodePortAddresses& value);
std::string value_text(const std::vector<LoggingConfig::Module>& value);
std::string value_text(const std::map<std::string, bool>& value);

// The parts between commas; none of an empty text.
std::vector<std::string_view> split_list(std::string_view text);

}  // namespace mkp
