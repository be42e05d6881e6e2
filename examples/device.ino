// A Jobcast device as an Arduino sketch (ESP32 or ESP8266), over MQTT. Libraries: PubSubClient and ArduinoJson 7.
#include <ArduinoJson.h>
#include <PubSubClient.h>
#include <WiFi.h>

const char *HOST = "192.168.1.10", *DEVICE = "kiosk-1", *TOKEN = "jd_...";
const String jobs = String("$aws/things/") + DEVICE + "/jobs/";
WiFiClient network; // WiFiClientSecure for mqtts
PubSubClient mqtt(network);

void carryOut(JsonObjectConst execution) {
  Serial.println("working on " + execution["jobId"].as<String>());
  JsonDocument report;
  report["status"] = "SUCCEEDED";
  report["executionNumber"] = execution["executionNumber"].as<int>();
  String body;
  serializeJson(report, body);
  mqtt.publish((jobs + execution["jobId"].as<String>() + "/update").c_str(), body.c_str());
}

void onMessage(char *topic, byte *payload, unsigned int length) {
  JsonDocument answer;
  if (deserializeJson(answer, payload, length)) return;
  if (String(topic) != jobs + "start-next/accepted") mqtt.publish((jobs + "start-next").c_str(), "{}");
  else if (!answer["execution"].isNull()) carryOut(answer["execution"]);
}

void setup() {
  Serial.begin(115200);
  WiFi.begin("network", "password");
  mqtt.setServer(HOST, 1883).setCallback(onMessage).setBufferSize(8192);
}

void loop() {
  if (!mqtt.connected() && WiFi.status() == WL_CONNECTED && mqtt.connect(DEVICE, DEVICE, TOKEN)) {
    for (const char *each : {"notify-next", "start-next/accepted", "+/update/accepted"}) mqtt.subscribe((jobs + each).c_str(), 1);
    mqtt.publish((jobs + "start-next").c_str(), "{}");
  }
  mqtt.loop();
}
