// A Jobcast device in C, over MQTT. cc device.c -lpaho-mqtt3c; HOST, MQTT_PORT, DEVICE and TOKEN in the environment.
#include <MQTTClient.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void publish(MQTTClient client, const char *topic, const char *body) {
  MQTTClient_publish(client, topic, (int)strlen(body), body, 1, 0, NULL);
}

// Enough for two fields whose values have no escapes. A real device uses a JSON library.
static int field(const char *json, const char *name, char *value, size_t size) {
  const char *at = strstr(json, name);
  if (at == NULL) return 0;
  at += strlen(name) + strspn(at + strlen(name), "\": ");
  return snprintf(value, size, "%.*s", (int)strspn(at, "0123456789"), at) > 0;
}

int main(void) {
  const char *device = getenv("DEVICE"), *host = getenv("HOST"), *port = getenv("MQTT_PORT");
  char address[256], next[256], accepted[300], all[256], topic[300], body[200], job[32], attempt[32], *from;
  snprintf(address, sizeof address, "tcp://%s:%s", host ? host : "127.0.0.1", port ? port : "1883");
  snprintf(next, sizeof next, "$aws/things/%s/jobs/start-next", device);
  snprintf(accepted, sizeof accepted, "%s/accepted", next);
  snprintf(all, sizeof all, "$aws/things/%s/jobs/#", device);
  MQTTClient client;
  MQTTClient_connectOptions options = MQTTClient_connectOptions_initializer;
  options.username = device, options.password = getenv("TOKEN"), options.keepAliveInterval = 30;
  MQTTClient_create(&client, address, device, MQTTCLIENT_PERSISTENCE_NONE, NULL);
  if (MQTTClient_connect(client, &options) != 0 || MQTTClient_subscribe(client, all, 1) != 0) return 1;
  for (publish(client, next, "{}");;) {
    MQTTClient_message *message = NULL;
    int length = 0;
    if (MQTTClient_receive(client, &from, &length, &message, 30000) != 0) return 1;
    if (message == NULL) continue;
    char *json = strndup(message->payload, (size_t)message->payloadlen);
    if (strcmp(from, accepted) != 0) {
      if (strstr(from, "/notify-next") || strstr(from, "/update/accepted")) publish(client, next, "{}");
    } else if (field(json, "\"jobId\"", job, sizeof job) && field(json, "\"executionNumber\"", attempt, sizeof attempt)) {
      snprintf(topic, sizeof topic, "$aws/things/%s/jobs/%s/update", device, job);
      snprintf(body, sizeof body, "{\"status\":\"SUCCEEDED\",\"executionNumber\":%s,\"statusDetails\":{\"language\":\"c\"}}", attempt);
      publish(client, topic, body);
    }
    free(json), MQTTClient_freeMessage(&message), MQTTClient_free(from);
  }
}
