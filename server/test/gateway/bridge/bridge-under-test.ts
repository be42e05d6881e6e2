// A complete server with a bridge to a real mosquitto, and devices that are only connected to the broker.

import { after } from 'node:test'
import { type Mosquitto, type MosquittoOptions, openMosquitto } from '@jobcast/testkit/mosquitto'
import { type OpenServer, openServer, type ServerOptions } from '@jobcast/testkit/open-server'
import type { Ending } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import type { BridgeSettings } from '../../../src/gateway/bridge/bridge-settings.ts'

const prefix = '$aws/things'

export function bridgeTo(url: string, more: Partial<BridgeSettings> = {}): BridgeSettings {
  return {
    ...{ bridgeName: 'b1', url, clientId: 'jobcast-test', ownerName: 'default', prefix },
    ...{ silenceMs: 600_000, enroll: false },
    ...more,
  }
}

type Bridged = OpenServer & { broker: Mosquitto; settings: BridgeSettings }

export async function openBridged(
  t: Ending,
  bridge: Partial<BridgeSettings> = {},
  options: ServerOptions = {},
  brokerOptions: MosquittoOptions = {},
): Promise<Bridged> {
  const broker = await openMosquitto(t, brokerOptions)
  const settings = bridgeTo(broker.url, bridge)
  const server = await openServer(t, { bridges: [settings], ...options })
  await whenConnected(server)
  return { ...server, broker, settings }
}

/** For all tests of a file, opened by the first: b1 publishes events, b2 has another prefix and enrolls. */
export function shareBridged(): () => Promise<Bridged> {
  const closes: (() => void | Promise<void>)[] = []
  after(async () => {
    for (const close of closes) await close()
  })
  const open = async () => {
    const ending: Ending = { after: (close) => closes.push(close) }
    const broker = await openMosquitto(ending)
    const settings = bridgeTo(broker.url, { events: 'jobcast/events' })
    const second = { bridgeName: 'b2', clientId: 'jobcast-b2', prefix: 'jobcast/things', enroll: true }
    const server = await openServer(ending, { bridges: [settings, bridgeTo(broker.url, second)] })
    for (const bridgeName of ['b1', 'b2']) await whenConnected(server, true, bridgeName)
    return { ...server, broker, settings }
  }
  let opened: Promise<Bridged> | undefined
  return () => {
    opened ??= open()
    return opened
  }
}

export async function whenConnected(
  server: Pick<OpenServer, 'call'>,
  is = true,
  bridgeName = 'b1',
): Promise<void> {
  await waitUntil('the bridge is connected', async () => {
    const { text } = await server.call('GET', '/metrics')
    return text.includes(`jobcast_bridge_connected{bridge="${bridgeName}"} ${is ? 1 : 0}`)
  })
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it
type Json = any
type Message = { topic: string; json: Json }

/** Queues received messages until a test reads them. */
export class BrokerDevice {
  readonly client: MqttClient
  readonly messages: Message[] = []
  readonly #deviceId: string
  readonly #prefix: string

  constructor(client: MqttClient, deviceId: string, topicPrefix: string) {
    this.client = client
    this.#deviceId = deviceId
    this.#prefix = topicPrefix
    client.on('message', (topic, payload) => {
      this.messages.push({ topic: topic.slice(this.#base.length), json: JSON.parse(payload.toString()) })
    })
  }

  static async open(
    t: Ending,
    url: string,
    deviceId: string,
    options: IClientOptions = {},
    topicPrefix = prefix,
  ): Promise<BrokerDevice> {
    const client = connect(url, { clientId: deviceId, reconnectPeriod: 200, ...options })
    t.after(() => void client.end(true))
    // Before it is connected: what the broker has kept comes at once.
    const device = new BrokerDevice(client, deviceId, topicPrefix)
    await new Promise((resolve) => client.once('connect', resolve))
    await device.subscribe()
    return device
  }

  get #base(): string {
    return `${this.#prefix}/${this.#deviceId}/`
  }

  async subscribe(): Promise<void> {
    const ours = [
      'notify',
      'notify-next',
      '+/cancel',
      'get/+',
      'start-next/+',
      '+/get/+',
      '+/update/+',
      '+/output/+',
    ]
    const filters = [...ours.map((each) => `jobs/${each}`), 'shadow/update/+']
    await this.client.subscribeAsync(
      filters.map((each) => this.#base + each),
      { qos: 1 },
    )
  }

  async publish(
    suffix: string,
    payload: string | Buffer,
    options: { qos?: 0 | 1; retain?: boolean } = {},
  ): Promise<void> {
    await this.client.publishAsync(this.#base + suffix, payload, { qos: 1, ...options })
  }

  async request(suffix: string, body: object = {}): Promise<Message> {
    await this.publish(suffix, JSON.stringify(body))
    return this.next((topic) => topic.startsWith(`${suffix}/`))
  }

  /** The next one of this topic, which is then gone. */
  async next(isWanted: string | ((topic: string, json: Json) => boolean)): Promise<Message> {
    const matches = ({ topic, json }: Message) =>
      typeof isWanted === 'string' ? topic === isWanted : isWanted(topic, json)
    await waitUntil(
      () => `a message (${isWanted}), but only ${JSON.stringify(this.messages)}`,
      () => this.messages.some(matches),
      { timeoutMs: 60_000, intervalMs: 5 },
    )
    const [found] = this.messages.splice(this.messages.findIndex(matches), 1)
    return found as Message
  }
}
