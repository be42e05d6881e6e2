import { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'
import type { TopicLink } from './topic-device.ts'

export type MqttJsLink = TopicLink & { client: MqttClient }

/** One connection of mqtt.js; it does not come back by itself. */
export async function connectMqttJs(
  t: TestContext,
  url: string,
  options: IClientOptions,
): Promise<MqttJsLink> {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, ...options }, false)
  t.after(() => client.endAsync(true))
  // mqtt.js leaves it out: a request right behind the confirmation of an answer would wait 40 ms each time.
  if (client.stream instanceof Socket) client.stream.setNoDelay()
  return {
    client,
    subscribe: (filters) => client.subscribeAsync(filters, { qos: 1 }),
    publish: (topic, payload) => client.publishAsync(topic, payload, { qos: 1 }),
    onMessage: (listener) => client.on('message', (topic, payload) => listener(topic, payload)),
  }
}
