#!/usr/bin/env python3
"""A Jobcast device in Python, over MQTT. Needs paho-mqtt (1.6 or 2); HOST, MQTT_PORT, DEVICE and TOKEN in the environment."""
import json
import os

import paho.mqtt.client as mqtt

device = os.environ["DEVICE"]
jobs = f"$aws/things/{device}/jobs"


def on_connect(client, *_):
    client.subscribe([(f"{jobs}/notify-next", 1), (f"{jobs}/start-next/accepted", 1), (f"{jobs}/+/update/+", 1)])


def on_subscribe(client, *_):
    client.publish(f"{jobs}/start-next", "{}", qos=1)  # also returns what was running before a restart


def on_message(client, _, message):
    answer = json.loads(message.payload)
    if message.topic.endswith("/start-next/accepted"):
        if "execution" in answer:
            carry_out(client, answer["execution"])
    else:  # Something is pending, or an execution is reported: ask for the next one.
        client.publish(f"{jobs}/start-next", "{}", qos=1)


def carry_out(client, execution):
    print("working on", execution["jobId"], execution["jobDocument"], flush=True)
    report = {"status": "SUCCEEDED", "executionNumber": execution["executionNumber"], "statusDetails": {"language": "python"}}
    client.publish(f"{jobs}/{execution['jobId']}/update", json.dumps(report), qos=1)


version2 = getattr(mqtt, "CallbackAPIVersion", None)
client = mqtt.Client(version2.VERSION2) if version2 else mqtt.Client()
client.username_pw_set(device, os.environ["TOKEN"])
client.on_connect, client.on_subscribe, client.on_message = on_connect, on_subscribe, on_message
client.connect(os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("MQTT_PORT", "1883")), keepalive=30)
client.loop_forever(retry_first_connection=True)
