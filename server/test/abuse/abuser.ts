// One connection at full speed, or many, in a process of its own: a stranger's, a device's or an owner's. When the server closes it, the abuser
// comes back a second later. Its parent kills it.

import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { generate, type Packet } from 'mqtt-packet'

type Abuse = {
  kind: AbuseKind | ManyKind
  http: string
  mqtt: string
  deviceId: string
  token: string
  /** Of the abuser's owner. */
  apiKey: string
}

export const abuserFile = fileURLToPath(import.meta.url)

/** Not that of the honest caller: from an address that was cut off nobody can connect for a while. Only Linux has it. */
export const strangerAddress = process.platform === 'linux' ? '127.0.0.2' : undefined

/** An abuser that is cut off comes back, as a program of that kind does. */
const reconnectMs = 1000
const chunkBytes = 64 * 1024
const filtersPerPacket = 26_000
const nestedLevels = 60_000
const streams = 2000
const bodyBytes = 48 * 1024 * 1024

/**
 * How the connection begins; what is then sent again and again; how often a second, if not at full speed; and on how many
 * connections, if not on one.
 */
type Plan = {
  port: string
  opening?: string | Buffer
  flood: Buffer
  perSecond?: number
  connections?: number
}

const plans = {
  'blanks in a Content-Type': ({ http }) => ({
    port: http,
    perSecond: 8,
    flood: Buffer.from(
      'POST /job/api/session HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n' +
        `content-type: application/json${' '.repeat(7700)};x=1\r\n\r\n{}`,
    ),
  }),
  'pipelined GET /livez': ({ http }) => ({
    port: http,
    flood: repeated(Buffer.from('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')),
  }),
  'WebSocket pings before CONNECT': ({ http }) => ({
    port: http,
    opening:
      'GET /mqtt HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n' +
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: mqtt\r\n\r\n',
    flood: repeated(Buffer.from([0x89, 0x80, 0, 0, 0, 0])),
  }),
  'WebSocket empty fragments': ({ http }) => ({
    port: http,
    opening: Buffer.concat([
      Buffer.from(
        'GET /mqtt HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n' +
          'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: mqtt\r\n\r\n',
      ),
      Buffer.from([0x02, 0x80, 0, 0, 0, 0]),
    ]),
    flood: repeated(Buffer.from([0x00, 0x80, 0, 0, 0, 0])),
  }),
  'MQTT PINGREQ': (abuse) => ({ ...signedIn(abuse), flood: repeated(generate({ cmd: 'pingreq' })) }),
  'SUBSCRIBE with 26,000 filters': (abuse) => ({
    ...signedIn(abuse),
    flood: encode({
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: Array.from({ length: filtersPerPacket }, () => ({ topic: '$a', qos: 0 as const })),
    }),
  }),
  'result nested 60,000 deep': (abuse) => ({
    ...signedIn(abuse),
    flood: encode({
      cmd: 'publish',
      qos: 0,
      dup: false,
      retain: false,
      topic: `$aws/things/${abuse.deviceId}/jobs/1/update`,
      payload: `{"status":"SUCCEEDED","result":${'['.repeat(nestedLevels)}${']'.repeat(nestedLevels)}}`,
    }),
  }),
  '/metrics': ({ http }) => ({
    port: http,
    perSecond: 40,
    flood: Buffer.from('GET /%6detrics HTTP/1.1\r\nhost: x\r\n\r\n'),
  }),
} satisfies Record<string, (abuse: Abuse) => Plan>

/** What an owner does at great scale: it takes connections, memory and turns of the event loop. */
const manyPlans = {
  'event streams of one key': ({ http, apiKey }) => ({
    port: http,
    connections: streams,
    perSecond: 0.01,
    opening: `GET /job/api/events HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\naccept: text/event-stream\r\n\r\n`,
    flood: Buffer.alloc(0),
  }),
  'sign-ins that fail': ({ http }) => ({
    port: http,
    connections: 50,
    perSecond: 20,
    flood: Buffer.from(
      'POST /job/api/session HTTP/1.1\r\nhost: x\r\nx-api-key: jc_wrong\r\ncontent-length: 0\r\n\r\n',
    ),
  }),
  'triggers of 48 MB': ({ http, apiKey }) => ({
    port: http,
    connections: 4,
    flood: Buffer.concat([
      Buffer.from(
        `POST /job/api/jobs/execute HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n` +
          `content-type: application/json\r\ncontent-length: ${bodyBytes}\r\n\r\n{"jobName":"restart","deviceIds":["abuser"`,
      ),
      Buffer.alloc(bodyBytes - 43, ' '),
      Buffer.from(']}'),
    ]),
  }),
} satisfies Record<string, (abuse: Abuse) => Plan>

export type ManyKind = keyof typeof manyPlans
export const manyKinds = Object.keys(manyPlans) as ManyKind[]

export type AbuseKind = keyof typeof plans
export const abuseKinds = Object.keys(plans) as AbuseKind[]

function signedIn({ mqtt, deviceId, token }: Abuse): Pick<Plan, 'port' | 'opening'> {
  const connectPacket = encode({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clean: true,
    clientId: deviceId,
    keepalive: 0,
    username: deviceId,
    password: Buffer.from(token),
  })
  return { port: mqtt, opening: connectPacket }
}

function encode(packet: Packet): Buffer {
  return generate(packet, { protocolVersion: 5 })
}

function repeated(unit: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: Math.ceil(chunkBytes / unit.length) }, () => unit))
}

function flood({ port: address, opening, flood: bytes, perSecond }: Plan): void {
  const { hostname, port } = new URL(address)
  const socket = connect({
    port: Number(port),
    host: hostname,
    ...(strangerAddress && { localAddress: strangerAddress }),
  })
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  socket.once('close', () => setTimeout(() => flood({ port: address, flood: bytes, ...more }), reconnectMs))
  const more = { ...(opening && { opening }), ...(perSecond && { perSecond }) }
  const begin = () => (perSecond === undefined ? pour(socket, bytes) : drip(socket, bytes, perSecond))
  socket.on('connect', () => {
    if (opening === undefined) begin()
    else {
      socket.write(opening)
      socket.once('data', begin)
    }
    process.send?.('flooding')
  })
  // What is answered is read, so that nothing holds the server back.
  socket.resume()
}

function pour(socket: Socket, bytes: Buffer): void {
  let isFull = false
  while (!isFull && socket.writable) isFull = !socket.write(bytes)
  if (socket.writable) socket.once('drain', () => pour(socket, bytes))
}

function drip(socket: Socket, bytes: Buffer, perSecond: number): void {
  const timer = setInterval(() => socket.write(bytes), 1000 / perSecond)
  socket.once('close', () => clearInterval(timer))
}

if (process.argv[1] === abuserFile) {
  process.once('message', (abuse: Abuse) => {
    const plan: Plan = { ...plans, ...manyPlans }[abuse.kind](abuse)
    for (let count = 0; count < (plan.connections ?? 1); count++) flood(plan)
  })
  process.once('disconnect', () => process.exit())
}
