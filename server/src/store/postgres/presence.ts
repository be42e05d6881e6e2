// Who is connected, and what was handed to whom.

import { judgePresence, type KnownPresence } from '../../domain/judge-presence.ts'
import type { PresenceChange, Store } from '../../domain/store.ts'
import type { Database } from './database.ts'
import { deviceChanged } from './events.ts'
import { numbers, type Row } from './rows.ts'
import type { Transaction } from './transaction.ts'

const LOCK = `
  SELECT owner_no, device_id, device_no, online, presence_since, last_seen_at, door, session_no
  FROM unnest($1::int[], $2::text[]) AS wanted (owner_no, device_id) JOIN device USING (owner_no, device_id)
  WHERE deleted_at IS NULL ORDER BY owner_no, device_id FOR NO KEY UPDATE OF device`
const SET = `
  UPDATE device SET online = new.online, presence_since = new.since, last_seen_at = new.seen, door = new.door,
    session_no = new.session, node_no = $2
  FROM json_to_recordset($1::json)
    AS new (device_no int, online boolean, since bigint, seen bigint, door text, session bigint)
  WHERE device.device_no = new.device_no`
const online = (which: string) => `
  SELECT owner_no, device_no, door FROM device
  WHERE online AND ${which} ORDER BY owner_no, device_id LIMIT $1 FOR NO KEY UPDATE OF device`
const WITHOUT_NODE = online('NOT EXISTS (SELECT FROM node WHERE node.node_no = device.node_no)')
const OF_NODES = online('node_no = ANY ($2::int[])')
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

const forgottenAtOnce = 1000

type PresenceSteps = Pick<Store, 'recordPresence' | 'forgetConnections' | 'recordDeliveries'>

/** `nodeNo`: to which the devices are connected that this store is told of. */
export function buildPresenceSteps(db: Database, nodeNo: number): PresenceSteps {
  return {
    async recordPresence(changes) {
      if (changes.length === 0) return
      await db.inTransaction((transaction) => recordPresence(transaction, changes, nodeNo))
    },
    async forgetConnections(at) {
      await forgetAll(db, WITHOUT_NODE, [], at)
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

/** Whoever is connected to these nodes is not any more. */
export function forgetConnectionsOf(db: Database, nodeNos: number[], at: number): Promise<void> {
  return forgetAll(db, OF_NODES, [numbers(nodeNos)], at)
}

async function forgetAll(db: Database, find: string, values: unknown[], at: number): Promise<void> {
  const some = (transaction: Transaction) => forgetSome(transaction, find, values, at)
  while (await db.inTransaction(some));
}

/** True while there may be more. */
async function forgetSome(
  transaction: Transaction,
  find: string,
  values: unknown[],
  at: number,
): Promise<boolean> {
  const rows = await transaction.query(find, [forgottenAtOnce, ...values])
  for (const { owner_no, device_no, door } of rows) {
    const [ownerNo, deviceNo] = [owner_no as number, device_no as number]
    deviceChanged(transaction, 'device.offline', { ownerNo, deviceNo, at, details: { door } })
  }
  if (rows.length > 0) await transaction.query(FORGET, [rows.map((row) => row.device_no), at])
  return rows.length === forgottenAtOnce
}

/** Each in its turn, but each device is written once. */
async function recordPresence(
  transaction: Transaction,
  changes: PresenceChange[],
  nodeNo: number,
): Promise<void> {
  const rows = await transaction.query(LOCK, [
    changes.map(({ ownerNo }) => ownerNo),
    changes.map(({ deviceId }) => deviceId),
  ])
  const devices = new Map(rows.map((row) => [`${row.owner_no} ${row.device_id}`, toKnown(row)]))
  const set = new Map<number, Row>()
  for (const change of changes) {
    const { ownerNo, deviceId, online, at, door, session } = change
    const device = devices.get(`${ownerNo} ${deviceId}`)
    if (device === undefined) continue
    const { deviceNo, known } = device
    const verdict = judgePresence(known, change)
    if (verdict === 'ignored') continue
    const isNews = known.online !== online
    known.lastSeenAt = verdict === 'seen' ? Math.max(known.lastSeenAt ?? 0, at) : at
    if (verdict === 'holds')
      Object.assign(known, { online, since: at, door, session: session ?? known.session })
    set.set(deviceNo, { ...known, device_no: deviceNo, seen: known.lastSeenAt })
    if (!isNews || verdict !== 'holds') continue
    const type = online ? 'device.online' : 'device.offline'
    deviceChanged(transaction, type, { ownerNo, deviceNo, at, details: { door } })
  }
  if (set.size > 0) await transaction.query(SET, [JSON.stringify([...set.values()]), nodeNo])
}

function toKnown(row: Row): { deviceNo: number; known: KnownPresence } {
  return {
    deviceNo: row.device_no as number,
    known: {
      online: row.online as boolean,
      since: row.presence_since as number | null,
      lastSeenAt: row.last_seen_at as number | null,
      door: row.door as KnownPresence['door'],
      session: row.session_no as number | null,
    },
  }
}

function ascending(ids: number[]): string {
  return numbers([...new Set(ids)].sort((a, b) => a - b))
}
