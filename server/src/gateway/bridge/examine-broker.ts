// Checks a broker for `jobcast doctor`: whether the service can work with it, and whether a client can impersonate a device.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MqttClient } from 'mqtt'
import type { BridgeSettings } from './bridge-settings.ts'
import { jobsTopic, requestFilters } from './bridge-topics.ts'
import { wordsOf } from './error-words.ts'

type OtherClient = Pick<BridgeSettings, 'user' | 'password'>

/** `refused`: the client could not sign in. `blocked`: its message as another device did not arrive; `delivered`: it did. */
export type Impersonation = { outcome: 'blocked' | 'delivered' } | { outcome: 'refused'; reason: string }

/** Rejects if the service itself cannot work with the broker. Then each of the other clients tries to impersonate a device. */
export async function examineBroker(
  settings: BridgeSettings,
  others: readonly OtherClient[],
): Promise<Impersonation[]> {
  const { user, password, cert, key } = settings
  const service = await open(settings, { username: user, password, cert, key })
  try {
    await service.subscribeAsync(requestFilters(settings.prefix), { qos: 1 })
    const found: Impersonation[] = []
    for (const other of others) found.push(await impersonate(settings, service, other))
    return found
  } finally {
    await service.endAsync(true)
  }
}

type SignIn = Partial<Record<'username' | 'password' | 'cert' | 'key', string | undefined>>

const connectTimeoutMs = 10_000
const arrivesWithinMs = 10_000

async function open({ url, ca }: BridgeSettings, signIn: SignIn): Promise<MqttClient> {
  const given = Object.entries({ ...signIn, ca }).filter(([, value]) => value !== undefined)
  const once = { reconnectPeriod: 0, connectTimeout: connectTimeoutMs, protocolVersion: 4 } as const
  // Using the client id of the bridge would end its connection.
  const clientId = `jobcast-doctor-${randomBytes(4).toString('hex')}`
  // Imported here, so that other commands of the CLI do not load it.
  const { connectAsync } = await import('mqtt')
  const options = { ...once, clientId, ...Object.fromEntries(given) }
  return connectAsync(url, options, false).catch((error: unknown) => {
    throw new Error(wordsOf(error), { cause: error })
  })
}

async function impersonate(
  settings: BridgeSettings,
  service: MqttClient,
  { user, password }: OtherClient,
): Promise<Impersonation> {
  let other: MqttClient
  try {
    other = await open(settings, { username: user, password })
  } catch (error) {
    return { outcome: 'refused', reason: (error as Error).message }
  }
  // No deviceId has a question mark, so `bridge-enroll` does not create it.
  const topic = jobsTopic(settings.prefix, `jobcast-doctor?${randomBytes(4).toString('hex')}`, 'get')
  const arrived: string[] = []
  const done = new AbortController()
  const listen = (heard: string, payload: Buffer) => {
    if (heard !== topic) return
    arrived.push(payload.toString())
    if (arrived.at(-1) === fromService) done.abort()
  }
  service.on('message', listen)
  try {
    // The broker may close the connection instead of answering.
    const said = other.publishAsync(topic, fromOther, { qos: 1 }).catch(() => undefined)
    const closed = new Promise<void>((resolve) => other.once('close', () => resolve()))
    await Promise.race([said, closed, sleep(arrivesWithinMs, undefined, { ref: false })])
    // Arrives after the other message, if that arrives at all.
    service.publish(topic, fromService, { qos: 1 })
    await sleep(arrivesWithinMs, undefined, { signal: done.signal }).catch(() => undefined)
    if (!arrived.includes(fromService))
      throw new Error('the broker does not deliver messages that the service publishes')
    return { outcome: arrived.includes(fromOther) ? 'delivered' : 'blocked' }
  } finally {
    service.off('message', listen)
    await other.endAsync(true)
  }
}

const [fromOther, fromService] = ['{"clientToken":"other"}', '{"clientToken":"service"}']
