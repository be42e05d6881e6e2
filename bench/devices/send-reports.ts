// Status updates from many devices, each timed until it is acknowledged.

import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../numbers.ts'
import { nowMs } from './clock.ts'
import type { Device, Ears } from './device.ts'
import type { Order, ReportTimes } from './fleet-orders.ts'

const pollIntervalMs = 2

export async function sendReports(all: Device[], ears: Ears, order: Order<'report'>): Promise<ReportTimes> {
  const { warmUpMs, measureMs, perSecond, until } = order
  const reports = new Reports(all.slice(0, order.devices), nowMs() + warmUpMs, measureMs)
  const keepsGoing = perSecond === undefined
  const acknowledged = (device: Device) => reports.acknowledge(device, keepsGoing)
  ears.onPuback = until === 'puback' ? acknowledged : () => undefined
  ears.onMessage = until === 'accepted' ? acknowledged : () => undefined
  if (keepsGoing) reports.sendAll()
  let cpuBefore = process.cpuUsage()
  while (!reports.isOver) {
    if (!keepsGoing) reports.sendDue(perSecond)
    if (!reports.isWarm) cpuBefore = process.cpuUsage()
    await sleep(pollIntervalMs)
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  while (reports.areInFlight) await sleep(pollIntervalMs)
  return { ...reports.summary(), cores: (user + system) / 1000 / measureMs }
}

class Reports {
  readonly #devices: Device[]
  readonly #begun = nowMs()
  readonly #from: number
  readonly #to: number
  readonly #times: number[] = []
  #sent = 0
  #acknowledged = 0

  constructor(devices: Device[], from: number, measureMs: number) {
    this.#devices = devices
    this.#from = from
    this.#to = from + measureMs
  }

  get isWarm(): boolean {
    return nowMs() >= this.#from
  }

  get isOver(): boolean {
    return nowMs() >= this.#to
  }

  get areInFlight(): boolean {
    return this.#devices.some(({ reportedAt }) => reportedAt > 0)
  }

  sendAll(): void {
    for (const device of this.#devices) this.#send(device, nowMs())
  }

  /** Times each report from when it was due. A device with a report in flight is skipped, which shows in the rate. */
  sendDue(perSecond: number): void {
    const due = ((nowMs() - this.#begun) * perSecond) / 1000
    for (; this.#sent < due; this.#sent++) {
      const device = this.#devices[this.#sent % this.#devices.length] as Device
      if (device.reportedAt === 0) this.#send(device, this.#begun + (this.#sent * 1000) / perSecond)
    }
  }

  acknowledge(device: Device, sendsNext: boolean): void {
    const now = nowMs()
    if (now >= this.#from && now < this.#to) this.#times.push(now - device.reportedAt)
    device.reportedAt = 0
    this.#acknowledged++
    if (sendsNext && now < this.#to) this.#send(device, now)
  }

  summary(): Omit<ReportTimes, 'cores'> {
    const times = this.#times.sort((a, b) => a - b)
    return {
      perSecond: (times.length * 1000) / (this.#to - this.#from),
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      all: this.#acknowledged,
    }
  }

  #send(device: Device, at: number): void {
    device.reportedAt = at
    device.report('IN_PROGRESS', Math.floor(at))
  }
}
