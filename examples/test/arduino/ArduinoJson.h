// The declarations of the libraries that examples/device.ino uses, for a compiler without them. ArduinoJson 7, PubSubClient 2.8.
#pragma once
#include <cstddef>
#include <string>
typedef unsigned char byte;
class String : public std::string {
 public:
  String(const char *text = "") : std::string(text) {}
  String(const std::string &text) : std::string(text) {}
};
inline String operator+(const String &a, const String &b) { return String(std::string(a) + std::string(b)); }
inline String operator+(const String &a, const char *b) { return String(std::string(a) + b); }
inline String operator+(const char *a, const String &b) { return String(a + std::string(b)); }
struct JsonObjectConst;
struct JsonVariant {
  template <class T> T as() const { return T(); }
  template <class T> JsonVariant &operator=(const T &) { return *this; }
  bool isNull() const { return true; }
  operator JsonObjectConst() const;
};
struct JsonObjectConst { JsonVariant operator[](const char *) const { return {}; } };
inline JsonVariant::operator JsonObjectConst() const { return {}; }
struct JsonDocument { JsonVariant operator[](const char *) { return {}; } };
inline size_t serializeJson(const JsonDocument &, String &) { return 0; }
inline bool deserializeJson(JsonDocument &, const byte *, size_t) { return false; }
