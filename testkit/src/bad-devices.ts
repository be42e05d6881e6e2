// Devices that misbehave without a pause, in their own thread, so that others are affected only through the server. This
// file is both the thread's program and its interface.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { LineClosed, MqttLine, NotLetIn } from './mqtt-line.ts'
import { type Random, seededRandom } from './seeded-random.ts'

export const badBehaviours = ['stuck', 'flapping', 'poisoned'] as const
type Behaviour = (typeof badBehaviours)[number]
type Order = { mqtt: string; tokens: Record<Behaviour, string>; seed: number }

/** How often each device has misbehaved, and how often the server continued to read from the stuck one. */
type BadCounts = Record<Behaviour, number> & { heardOut: number }

/** Each behaviour is the name of a device. Resolves when all three have begun. */
export async function startBadDevices(order: Order): Promise<{ stop: () => Promise<BadCounts> }> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { badDevices: order } })
  await once(worker, 'message')
  return {
    async stop() {
      const answer = once(worker, 'message')
      worker.postMessage('stop')
      const [counts] = await answer
      await worker.terminate()
      return counts
    },
  }
}

async function misbehave({ mqtt, tokens, seed }: Order): Promise<void> {
  const counts: BadCounts = { stuck: 0, flapping: 0, poisoned: 0, heardOut: 0 }
  const random = seededRandom(seed)
  const over = new AbortController()
  parentPort?.once('message', () => over.abort())
  let hasBegun = false
  const count = (behaviour: Behaviour) => {
    counts[behaviour]++
    if (hasBegun || badBehaviours.some((each) => counts[each] === 0)) return
    hasBegun = true
    parentPort?.postMessage('begun')
  }
  const programs: Record<Behaviour, () => Promise<void>> = {
    async stuck() {
      if (await beStuck(mqtt, tokens.stuck, () => count('stuck'), over.signal)) counts.heardOut++
    },
    flapping: () => flap(mqtt, tokens.flapping, random).then(() => count('flapping')),
    poisoned: () => sendPoison(mqtt, tokens.poisoned, counts.poisoned).then(() => count('poisoned')),
  }
  const continueWith = async (behaviour: Behaviour) => {
    while (!over.signal.aborted) {
      await programs[behaviour]().catch((error) => {
        if (!(error instanceof LineClosed)) throw error
      })
    }
  }
  await Promise.all(badBehaviours.map(continueWith))
  parentPort?.postMessage(counts)
}

/** More than the system buffers between two programs: 18 MB, or the configured maximum of its buffers. */
const unreadBytes = Math.max(18e6, 2 * (mostOf('tcp_rmem') + mostOf('tcp_wmem')))

function mostOf(buffer: string): number {
  try {
    return Number(readFileSync(`/proc/sys/net/ipv4/${buffer}`, 'utf8').split(/\s+/)[2]) || 0
  } catch {
    return 0
  }
}

/** Requests its large document repeatedly and never reads an answer. Returns true if the server still read all requests. */
async function beStuck(
  mqtt: string,
  token: string,
  onStuck: () => void,
  isOver: AbortSignal,
): Promise<boolean> {
  const line = await MqttLine.open(mqtt, { deviceId: 'stuck', token })
  await line.subscribe('notify', 'notify-next', '$next/get/+')
  line.stream.pause()
  for (let sent = 0; sent < unreadBytes; sent += 6000)
    line.publishUnconfirmed('$next/get', { padding: 'x'.repeat(6000) })
  onStuck()
  // The device stays to the end: the server must work with it, not only survive it.
  if (!isOver.aborted) await Promise.race([line.closed, once(isOver, 'abort')])
  const isHeardOut = !line.isClosed && line.stream.writableLength === 0
  line.cut()
  return isHeardOut
}

async function flap(mqtt: string, token: string, random: Random): Promise<void> {
  const line = await MqttLine.open(mqtt, { deviceId: 'flapping', token })
  const subscribed = line.subscribe('notify', 'notify-next', 'start-next/+')
  line.publishUnconfirmed('start-next', {})
  if (random.chance(0.5)) await subscribed
  subscribed.catch(() => undefined)
  if (random.chance(0.5)) line.cut()
  else line.end()
  await line.closed
}

const nested = `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`
const foreign = '$aws/things/device-1/jobs/'

/** Malformed messages of a device that has signed in. */
const signedInPoison: ((line: MqttLine) => void)[] = [
  (line) => line.publishUnconfirmed('start-next', '{"not json'),
  (line) => line.publishUnconfirmed('start-next', '[1,2,3]'),
  (line) => line.publishUnconfirmed('start-next', nested),
  (line) => line.publishUnconfirmed('start-next', { statusDetails: { a: 1 }, stepTimeoutInMinutes: -7 }),
  (line) => line.publishUnconfirmed('1/update', { status: 'SUCCEEDED' }),
  (line) => line.publishUnconfirmed('1/update', { status: 'NONSENSE', expectedVersion: 'x' }),
  (line) => line.publishUnconfirmed('1/output', { offset: 1e15, data: 'x' }),
  (line) => line.publishUnconfirmed('no/such/operation/at/all', {}),
  (line) => line.publishUnconfirmed('x'.repeat(60_000), {}),
  (line) => line.publishUnconfirmed('get', 'x'.repeat(120_000)),
  (line) => line.publishUnconfirmed('get', 'x'.repeat(200_000)),
  (line) => line.send(publication(`${foreign}start-next`)),
  (line) => line.send(publication(`${foreign}1/update`)),
  (line) => line.send(publication('$SYS/broker')),
  (line) => line.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] }),
  (line) => line.send({ cmd: 'subscribe', messageId: 2, subscriptions: manyFilters }),
  (line) => line.send({ cmd: 'pubrel', messageId: 3 }),
  (line) => line.send({ cmd: 'connect', protocolId: 'MQTT', clientId: 'again', keepalive: 0 }),
  (line) => line.stream.write(Buffer.from([0x3d, 0x02, 0x00, 0x00])),
  (line) => line.stream.write(Buffer.alloc(100_000, 0xff)),
]

/** Malformed data on a connection that has not signed in. */
const strangerPoison: (string | Buffer)[] = [
  'GET / HTTP/1.1\r\n\r\n',
  Buffer.alloc(10_000, 0xff),
  Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f]),
  Buffer.from([0x10, 0x05, 0x00]),
  Buffer.from([0x30, 0x03, 0x00, 0x01, 0x61]),
]

const manyFilters = Array.from({ length: 500 }, (_, index) => ({
  topic: `$aws/things/poisoned/jobs/${index}/get/+`,
  qos: 1 as const,
}))

function publication(topic: string) {
  return { cmd: 'publish', topic, payload: '{}', qos: 0, dup: false, retain: false } as const
}

/** Sends each of them in turn. */
async function sendPoison(mqtt: string, token: string, turn: number): Promise<void> {
  const which = turn % (signedInPoison.length + strangerPoison.length + 1)
  const stranger = strangerPoison[which - signedInPoison.length]
  const poison = signedInPoison[which]
  if (poison) {
    const version = turn % 2 === 0 ? 5 : 4
    const line = await MqttLine.open(mqtt, { deviceId: 'poisoned', token, version })
    await line.subscribe('start-next/+', '+/update/+')
    poison(line)
    // If the server does not close the connection, an answer shows that it has read the message.
    await Promise.race([line.closed, line.request('start-next', {}).catch(() => undefined)])
    line.cut()
  } else if (stranger !== undefined) {
    const { hostname, port } = new URL(mqtt)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined).resume()
    // If the server waits for more, it sees the end of the stream and closes.
    socket.end(stranger)
    await new Promise((resolve) => socket.once('close', resolve))
  } else {
    const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    const refused = await MqttLine.open(mqtt, { deviceId: 'poisoned', token: wrong }).catch((error) => error)
    if (!(refused instanceof NotLetIn)) throw new Error('a wrong token was let in')
  }
}

if (!isMainThread && workerData?.badDevices) void misbehave(workerData.badDevices)
