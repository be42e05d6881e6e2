// The fleet: up to ten thousand devices in one process. Handles one request of its parent at a time.

import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from './clock.ts'
import { Device, type Ears } from './device.ts'
import type { Answer, FleetQuestion, Order, OrderName } from './fleet-orders.ts'
import { pingreq } from './mqtt-bytes.ts'
import { sendReports } from './send-reports.ts'

const connectingAtOnce = 100
// One address has 28,000 ephemeral ports, and closed connections keep theirs in TIME_WAIT for a minute.
const localAddresses = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`)
const pingEveryMs = 50
/** Size of the fixed header of a packet between 128 bytes and 16 KB. */
const headerBytes = 3

const ears: Ears = {}
let devices: Device[] = []
let keepAliveSeconds = 0
let lost: string | undefined
let messages = 0
let bytesSeen = 0
let firstAt = 0
let lastAt = 0
let busy = measureCores()
let noticed: { jobIds: number[]; at: number[] } = { jobIds: [], at: [] }

type Act = { [Name in OrderName]: (order: Order<Name>) => Promise<Answer<Name>> }

const act: Act = {
  async connect({ devices: credentials, ...network }) {
    keepAliveSeconds = network.keepAliveSeconds
    const onLost = (reason: string) => {
      lost ??= reason
    }
    devices = credentials.map((credential, index) => {
      const localAddress = localAddresses[index % localAddresses.length] as string
      return new Device(credential, { ...network, localAddress, ears, onLost })
    })
    const waiting = devices.values()
    const connectSome = async () => {
      for (const device of waiting) await device.open()
    }
    await Promise.all(Array.from({ length: connectingAtOnce }, connectSome))
  },

  async subscribe({ topics, qos }) {
    await new Promise<void>((resolve, reject) => {
      let missing = devices.length
      ears.onSuback = (device, wasGranted) => {
        if (!wasGranted) reject(new Error(`${device.deviceId} may not subscribe to ${topics}`))
        if (--missing === 0) resolve()
      }
      for (const device of devices) device.subscribe(topics, qos)
    })
  },

  async count() {
    messages = 0
    bytesSeen = 0
    busy = measureCores()
    ears.onMessage = (device, bytes, start, end) => {
      device.learnJobId(bytes, start, end)
      messages++
      bytesSeen += end - start + headerBytes
      lastAt = nowMs()
      if (messages === 1) firstAt = lastAt
    }
  },

  async counted({ each }) {
    await until(() => messages >= each * devices.length)
    if (messages > each * devices.length) throw new Error(`${messages} messages, too many`)
    return { firstAt, lastAt, bytes: Math.round(bytesSeen / messages), cores: busy(lastAt) }
  },

  async finish({ topics }) {
    let missing = devices.length * (1 + topics)
    ears.onPuback = () => missing--
    ears.onMessage = () => missing--
    for (const device of devices) device.report('SUCCEEDED', 0)
    await until(() => missing === 0)
  },

  async ping({ seconds }) {
    let sent = 0
    let answered = 0
    ears.onPingresp = () => answered++
    const begun = nowMs()
    const perMs = devices.length / (keepAliveSeconds * 1000)
    while (nowMs() - begun < seconds * 1000) {
      for (const due = (nowMs() - begun) * perMs; sent < due; sent++) {
        devices[sent % devices.length]?.send(pingreq)
      }
      await sleep(pingEveryMs)
    }
    await until(() => answered === sent)
    return { sent, answered }
  },

  async collect() {
    noticed = { jobIds: [], at: [] }
    busy = measureCores()
    ears.onMessage = (device, bytes, start, end) => {
      if (!device.learnJobId(bytes, start, end)) return
      noticed.jobIds.push(Number(device.jobId))
      noticed.at.push(nowMs())
      device.report('SUCCEEDED', 0)
    }
  },

  async collected() {
    return { ...noticed, cores: busy(nowMs()) }
  },

  report: (order) => sendReports(devices, ears, order),
}

/** Returns a function that gives the cores that this process has kept busy since. */
function measureCores(): (at: number) => number {
  const begun = nowMs()
  const before = process.cpuUsage()
  return (at) => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / (at - begun)
  }
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    if (lost) throw new Error(`a connection was lost: ${lost}`)
    await sleep(5)
  }
}

process.on('message', async ({ name, order }: FleetQuestion) => {
  try {
    const answer = await act[name](order as never)
    if (lost) throw new Error(`a connection was lost: ${lost}`)
    process.send?.({ answer })
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.message : String(error) })
  }
})
process.on('disconnect', () => process.exit())
