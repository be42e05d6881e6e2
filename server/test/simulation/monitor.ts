// Monitors a simulation: devices get their executions, timers fire, and memory matches the disk.

import type { DatabaseSync } from 'node:sqlite'
import { deviceText } from '../../src/domain/device/ports/device-link.ts'
import { loadCatalogue } from '../../src/store/sqlite/catalogue.ts'
import type { ConnectedDevice, PollingDevice } from './simulated-devices.ts'
import type { World } from './world.ts'

type Device = ConnectedDevice | PollingDevice

/** A sweep every three seconds finds what a lost notification missed. */
const idleLimitMs = 6000
/** A timer fires within two seconds of its time. */
const timerLimitMs = 3000

/** While nothing else goes wrong: who is connected and idle gets what waits for it, and timers fire. */
export async function monitor(world: World, db: DatabaseSync, devices: Device[]): Promise<void> {
  // Of what is not visible yet, not released yet or outside of its window nobody knows.
  const waiting = db.prepare(`
    SELECT min(execution_id) AS id FROM execution JOIN device USING (device_no) JOIN run USING (run_id)
      LEFT JOIN rollout USING (run_id) LEFT JOIN run_request USING (run_id)
    WHERE device.owner_no = ? AND device_id = ? AND (execution.state = 'IN_PROGRESS' OR (execution.state = 'PENDING' AND not_before IS NULL
      AND (held_from IS NULL OR execution_id < held_from) AND window_name IS NULL))`)
  const overdue = db.prepare(
    `SELECT execution_id AS id FROM execution WHERE finished_at IS NULL AND due_at IS NOT NULL AND due_at < ?`,
  )
  /** Which execution waits for which device, and since when. */
  const since = new Map<unknown, { id: unknown; at: number }>()
  const { time, problems } = world
  while (!world.isOver) {
    await time.sleep(1000)
    for (const device of devices) {
      const { idleSince } = device
      const id = waiting.get(device.device.ownerNo, device.device.deviceId)?.id ?? null
      const before = since.get(device)
      if (id === null || idleSince === undefined) since.delete(device)
      else if (before?.id !== id) since.set(device, { id, at: time.elapsed })
      else if (time.elapsed > Math.max(before.at, idleSince, world.disturbedAt) + idleLimitMs) {
        problems.push(
          `${deviceText(device.device)} is idle at ${time.elapsed} ms, and execution ${id} waits since ${before.at}`,
        )
        since.delete(device)
      }
    }
    if (!world.node.isKilled && world.node.isIdle) problems.push(...checkMemory(world, db, devices))
    if (world.node.isKilled || time.elapsed < world.disturbedAt + timerLimitMs) continue
    for (const { id } of overdue.all(world.node.steady.now() - timerLimitMs)) {
      problems.push(`a timer of execution ${id} has not fired at ${time.elapsed} ms`)
    }
  }
}

/** What the store keeps in memory of the queues is what it would read at its next start. */
function checkMemory(world: World, db: DatabaseSync, devices: Device[]): string[] {
  const stored = loadCatalogue(db)
  return devices.flatMap(({ device: { ownerNo, deviceId } }) => {
    const [memory, disk] = [world.node.catalogue, stored].map((catalogue) => {
      const queue = catalogue.devices(ownerNo).getOnDisk(deviceId)?.queue
      return `[${queue?.all.join()}] with ${queue?.offered(catalogue.held)} on offer`
    })
    return memory === disk
      ? []
      : [`the queue of ${ownerNo} ${deviceId} is ${memory} in memory, and ${disk} on disk`]
  })
}

export function checkPresence(db: DatabaseSync, devices: Device[]): string[] {
  const online = db.prepare(
    'SELECT online FROM device WHERE owner_no = ? AND device_id = ? AND deleted_at IS NULL',
  )
  return devices
    .filter(({ device }) => online.get(device.ownerNo, device.deviceId)?.online !== 1)
    .map(({ device }) => `${deviceText(device)} is connected and stored as offline`)
}
