#pragma once
#include "ArduinoJson.h"
class WiFiClient {};
enum { WL_CONNECTED = 3 };
struct WiFiStation {
  void begin(const char *, const char *) {}
  int status() { return WL_CONNECTED; }
};
static WiFiStation WiFi;
struct SerialPort {
  void begin(int) {}
  void println(const String &) {}
};
static SerialPort Serial;
