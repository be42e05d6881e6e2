#pragma once
#include "WiFi.h"
class PubSubClient {
 public:
  explicit PubSubClient(WiFiClient &) {}
  PubSubClient &setServer(const char *, unsigned short) { return *this; }
  PubSubClient &setCallback(void (*)(char *, unsigned char *, unsigned int)) { return *this; }
  bool setBufferSize(unsigned short) { return true; }
  bool connected() { return true; }
  bool connect(const char *, const char *, const char *) { return true; }
  bool subscribe(const char *, unsigned char) { return true; }
  bool publish(const char *, const char *) { return true; }
  bool loop() { return true; }
};
