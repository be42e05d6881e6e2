// Who is connected, and what was handed to whom.

import type { DatabaseSync } from 'node:sqlite'
import type { PresenceChange } from '../../domain/store.ts'
import type { EventLog } from './events.ts'

// Whoever is online already and comes back by another connection is online since then.
const SET = `
  UPDATE device SET online = :online, presence_since = :at, last_seen_at = :at, door = :transport
  WHERE owner_no = :ownerNo AND device_id = :deviceId AND deleted_at IS NULL`
const WAS = 'SELECT device_no, online FROM device WHERE owner_no = ? AND device_id = ? AND deleted_at IS NULL'
const ONLINE = 'SELECT owner_no, device_no, door FROM device WHERE online = 1'
const FORGET = 'UPDATE device SET online = 0, presence_since = ? WHERE online = 1'
const NOTIFIED = `
  UPDATE execution SET notified_at = :at
  WHERE execution_id IN (SELECT value FROM json_each(:ids)) AND notified_at IS NULL`
const DELIVERED = `
  UPDATE execution SET delivered_at = :at, notified_at = coalesce(notified_at, :at)
  WHERE execution_id IN (SELECT value FROM json_each(:ids)) AND delivered_at IS NULL`

export function preparePresence(db: DatabaseSync, log: EventLog) {
  const was = db.prepare(WAS)
  const allOnline = db.prepare(ONLINE)
  const set = db.prepare(SET)
  const forget = db.prepare(FORGET)
  const notify = db.prepare(NOTIFIED)
  const deliver = db.prepare(DELIVERED)
  return {
    recordPresence(changes: PresenceChange[]): void {
      for (const { ownerNo, deviceId, online, at, transport } of changes) {
        const before = was.get(ownerNo, deviceId)
        if (before === undefined) continue
        set.run({ ownerNo, deviceId, online: Number(online), at, transport })
        if (before.online === Number(online)) continue
        const deviceNo = before.device_no as number
        log.deviceChanged(online ? 'device.online' : 'device.offline', {
          ownerNo,
          deviceNo,
          at,
          details: { transport },
        })
      }
    },
    setAllOffline(at: number): void {
      for (const { owner_no, device_no, door: transport } of allOnline.all()) {
        const [ownerNo, deviceNo] = [owner_no as number, device_no as number]
        log.deviceChanged('device.offline', { ownerNo, deviceNo, at, details: { transport } })
      }
      forget.run(at)
    },
    recordDeliveries(input: { notified: number[]; delivered: number[]; at: number }): void {
      const { notified, delivered, at } = input
      if (notified.length > 0) notify.run({ ids: JSON.stringify(notified), at })
      if (delivered.length > 0) deliver.run({ ids: JSON.stringify(delivered), at })
    },
  }
}
