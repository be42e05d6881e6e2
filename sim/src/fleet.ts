// Many devices in one process. They share one scheduler, one connection limit, and one ping loop.

import { ConnectGate } from './connect-gate.ts'
import type { Credential } from './device-line.ts'
import type { EndStatus, TellFleet } from './fleet-event.ts'
import { mqttAddress } from './mqtt-address.ts'
import { calmPattern, type Pattern } from './pattern.ts'
import { Presence } from './presence.ts'
import { Schedule } from './schedule.ts'
import { Worker } from './worker.ts'

/** `pattern` overrides fields of the fleet's pattern. */
export type SimulatedDevice = Credential & { pattern?: Partial<Pattern> }

export type FleetOptions = {
  /** mqtt://host:1883, or mqtts:// */
  mqtt: string
  /** The address is that of a broker to which the server has a bridge. */
  broker?: { topicPrefix?: string | undefined; repeatAfterMs?: number } | undefined
  devices: readonly SimulatedDevice[]
  pattern?: Partial<Pattern>
  /** With the same seed, each execution has the same outcome on each device again. */
  seed?: number
  connectAtOnce?: number
  trustAnyCertificate?: boolean
  tell?: TellFleet
}

export type FleetCounts = {
  devices: number
  online: number
  working: number
  /** Devices whose token is void; they do not reconnect. */
  refused: number
  /** Executions whose end the server has confirmed, by state. */
  ended: Record<EndStatus, number>
}

export type Fleet = {
  counts(): FleetCounts
  /** Resolves when each device has been online once, was refused, or started offline. */
  whenUp(): Promise<void>
  /** May be called twice; resolves when all connections are closed. */
  stop(): Promise<void>
}

const keepAliveSeconds = 120
/** Each device pings twice per keep-alive interval, a part of the fleet each second. */
const roundSeconds = 60
const closeWithinMs = 5000
/** A broker takes requests while the server is away, and may drop them. */
const repeatAfterMs = 30_000

/** Starts connecting; throws only for an invalid address. */
export function startFleet(options: FleetOptions): Fleet {
  const { devices, seed = randomSeed(), connectAtOnce = 500, tell = () => undefined } = options
  const counts = emptyCounts()
  const schedule = new Schedule()
  const deps = {
    network: {
      address: mqttAddress(options.mqtt),
      trustAnyCertificate: options.trustAnyCertificate ?? false,
      keepAliveSeconds,
      topicPrefix: options.broker?.topicPrefix,
    },
    repeatAfterMs: options.broker && (options.broker.repeatAfterMs ?? repeatAfterMs),
    schedule,
    gate: new ConnectGate(connectAtOnce),
    seed,
    tell: counting(counts, tell),
  }
  const presences = devices.map((device) => {
    const pattern = { ...calmPattern, ...options.pattern, ...device.pattern }
    const worker = new Worker(deps, device.deviceId, pattern, (suffix, fields) =>
      presence.publish(suffix, fields),
    )
    const presence = new Presence(deps, device, pattern, worker)
    return presence
  })
  const endPings = startPings(presences)
  for (const presence of presences) presence.start()

  let stopped: Promise<void> | undefined
  const stop = async () => {
    endPings()
    schedule.stop()
    const closed = Promise.all(presences.map((presence) => presence.stop()))
    const late = setTimeout(() => {
      for (const presence of presences) presence.cut('the fleet stops')
    }, closeWithinMs)
    await closed
    clearTimeout(late)
  }
  return {
    counts: () => ({ devices: devices.length, ...counts, ended: { ...counts.ended } }),
    whenUp: async () => void (await Promise.all(presences.map((presence) => presence.settled))),
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

export function emptyCounts(): Omit<FleetCounts, 'devices'> {
  return { online: 0, refused: 0, working: 0, ended: { SUCCEEDED: 0, FAILED: 0, REJECTED: 0, CANCELED: 0 } }
}

export function counting(counts: Omit<FleetCounts, 'devices'>, tell: TellFleet): TellFleet {
  return (event) => {
    switch (event.kind) {
      case 'online':
        counts.online++
        break
      case 'offline':
        counts.online--
        break
      case 'refused':
        counts.refused++
        break
      case 'started':
        counts.working++
        break
      case 'ended':
        counts.ended[event.status]++
        counts.working--
        break
      case 'abandoned':
        counts.working--
    }
    tell(event)
  }
}

function startPings(presences: readonly Presence[]): () => void {
  const perSecond = Math.ceil(presences.length / roundSeconds)
  let next = 0
  const timer = setInterval(() => {
    for (let i = 0; i < perSecond; i++) {
      presences[next]?.ping()
      // A small fleet pauses at the end of its round.
      next = (next + 1) % Math.max(presences.length, roundSeconds)
    }
  }, 1000)
  return () => clearInterval(timer)
}

export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 32)
}
