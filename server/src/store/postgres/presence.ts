// Who is connected, and what was handed to whom.

import type { PresenceChange, Store } from '../../domain/store.ts'
import type { Database } from './database.ts'
import { deviceChanged } from './events.ts'
import { numbers, type Row } from './rows.ts'
import type { Transaction } from './transaction.ts'

const LOCK = `
  SELECT owner_no, device_id, device_no, online
  FROM unnest($1::int[], $2::text[]) AS wanted (owner_no, device_id) JOIN device USING (owner_no, device_id)
  WHERE deleted_at IS NULL ORDER BY owner_no, device_id FOR NO KEY UPDATE OF device`
// Whoever is online already and comes back by another connection is online since then.
const SET = `
  UPDATE device SET online = new.online, presence_since = new.at, last_seen_at = new.at, door = new.door
  FROM json_to_recordset($1::json) AS new (device_no int, online boolean, at bigint, door text)
  WHERE device.device_no = new.device_no`
const ONLINE = `
  SELECT owner_no, device_no, door FROM device WHERE online ORDER BY owner_no, device_id FOR NO KEY UPDATE`
const FORGET = `
  UPDATE device SET online = false, presence_since = $2 FROM unnest($1::int[]) AS gone (device_no)
  WHERE device.device_no = gone.device_no`
const NOTIFIED = `
  UPDATE execution SET notified_at = $2 FROM unnest($1::bigint[]) AS told (id)
  WHERE execution_id = told.id AND notified_at IS NULL`
const DELIVERED = `
  UPDATE execution SET delivered_at = $2::bigint, notified_at = coalesce(notified_at, $2)
  FROM unnest($1::bigint[]) AS told (id)
  WHERE execution_id = told.id AND delivered_at IS NULL`

type PresenceSteps = Pick<Store, 'recordPresence' | 'forgetConnections' | 'recordDeliveries'>

export function buildPresenceSteps(db: Database): PresenceSteps {
  return {
    async recordPresence(changes) {
      if (changes.length > 0) await db.inTransaction((transaction) => recordPresence(transaction, changes))
    },
    forgetConnections(at) {
      return db.inTransaction(async (transaction) => {
        const rows = await transaction.query(ONLINE)
        for (const { owner_no, device_no, door } of rows) {
          const [ownerNo, deviceNo] = [owner_no as number, device_no as number]
          deviceChanged(transaction, 'device.offline', { ownerNo, deviceNo, at, details: { door } })
        }
        if (rows.length > 0) await transaction.query(FORGET, [rows.map((row) => row.device_no), at])
      })
    },
    async recordDeliveries({ notified, delivered, at }) {
      if (notified.length + delivered.length === 0) return
      await db.inTransaction((transaction) =>
        Promise.all([
          transaction.query(NOTIFIED, [ascending(notified), at]),
          transaction.query(DELIVERED, [ascending(delivered), at]),
        ]),
      )
    },
  }
}

/** Each in its turn, but each device is written once. */
async function recordPresence(transaction: Transaction, changes: PresenceChange[]): Promise<void> {
  const rows = await transaction.query(LOCK, [
    changes.map(({ ownerNo }) => ownerNo),
    changes.map(({ deviceId }) => deviceId),
  ])
  const devices = new Map(rows.map((row) => [`${row.owner_no} ${row.device_id}`, row]))
  const set = new Map<number, Row>()
  for (const { ownerNo, deviceId, online, at, door } of changes) {
    const device = devices.get(`${ownerNo} ${deviceId}`)
    if (device === undefined) continue
    const deviceNo = device.device_no as number
    set.set(deviceNo, { device_no: deviceNo, online, at, door })
    if (device.online === online) continue
    device.online = online
    const type = online ? 'device.online' : 'device.offline'
    deviceChanged(transaction, type, { ownerNo, deviceNo, at, details: { door } })
  }
  if (set.size > 0) await transaction.query(SET, [JSON.stringify([...set.values()])])
}

function ascending(ids: number[]): string {
  return numbers([...new Set(ids)].sort((a, b) => a - b))
}
