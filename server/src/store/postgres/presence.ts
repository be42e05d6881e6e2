// Who is connected, and what was handed to whom.

import type { SteadyInstant } from '../../domain/instants.ts'
import { hasSession, judgePresence, type KnownPresence } from '../../domain/judge-presence.ts'
import type { LeftDevice } from '../../domain/nodes.ts'
import type { PresenceChange, Store } from '../../domain/store.ts'
import type { Database } from './database.ts'
import { deviceChanged } from './events.ts'
import { numbers, type Row } from './rows.ts'
import type { Transaction } from './transaction.ts'

const LOCK = `
  SELECT owner_no, device_id, device_no, online, presence_since, last_seen_at, door, session_since, node_no
  FROM unnest($1::int[], $2::text[]) AS wanted (owner_no, device_id) JOIN device USING (owner_no, device_id)
  WHERE deleted_at IS NULL ORDER BY owner_no, device_id FOR NO KEY UPDATE OF device`
const SET = `
  UPDATE device SET online = new.online, presence_since = new.since, last_seen_at = new.seen, door = new.transport,
    session_since = new.session, node_no = new.node_no
  FROM json_to_recordset($1::json)
    AS new (device_no int, online boolean, since bigint, seen bigint, transport text, session bigint,
      node_no int)
  WHERE device.device_no = new.device_no`
// From one number to the next higher one: there are few, and many devices of each.
const GONE = `
  WITH RECURSIVE used AS (
    SELECT 0 AS no
    UNION ALL
    SELECT (SELECT node_no FROM device WHERE online AND node_no > used.no ORDER BY node_no LIMIT 1) FROM used
    WHERE used.no IS NOT NULL)
  SELECT no FROM used WHERE no > 0 AND NOT EXISTS (SELECT FROM node WHERE node.node_no = no)`
// Who is just being written is looked at the next time: a node must not wait here for one that stands still.
const ONLINE = `
  SELECT device_no FROM device WHERE online AND node_no = ANY ($1::int[])
  LIMIT $2 FOR NO KEY UPDATE OF device SKIP LOCKED`
// The first look may be older than the lock: a device may have come to another node in between, or its node back.
const isLeft = `
  device.device_no = locked.device_no AND online
    AND NOT EXISTS (SELECT FROM node WHERE node.node_no = device.node_no)`
const FORGET = `
  UPDATE device SET online = false, presence_since = $2 FROM unnest($1::int[]) AS locked (device_no)
  WHERE ${isLeft} RETURNING owner_no, device.device_no, door`
const ADOPT = `
  UPDATE device SET node_no = $2 FROM unnest($1::int[]) AS locked (device_no)
  WHERE ${isLeft} AND door = 'http' RETURNING owner_no, device_id, last_seen_at`
const NOTIFIED = `
  UPDATE execution SET notified_at = $2 FROM unnest($1::bigint[]) AS told (id)
  WHERE execution_id = told.id AND notified_at IS NULL`
const DELIVERED = `
  UPDATE execution SET delivered_at = $2::bigint, notified_at = coalesce(notified_at, $2)
  FROM unnest($1::bigint[]) AS told (id)
  WHERE execution_id = told.id AND delivered_at IS NULL`

const forgottenAtOnce = 1000

type PresenceSteps = Pick<Store, 'recordPresence' | 'setAllOffline' | 'recordDeliveries'>

/** `left`: those that asked by HTTP, if they are kept. */
type Forgotten = { left: LeftDevice[]; more: boolean }

/** `nodeNo`: to which the devices are connected that this store is told of. */
export function buildPresenceSteps(db: Database, nodeNo: number): PresenceSteps {
  return {
    async recordPresence(changes) {
      if (changes.length === 0) return
      await db.inTransaction((transaction) => recordPresence(transaction, changes, nodeNo))
    },
    async setAllOffline({ at }) {
      while ((await db.inTransaction((transaction) => forgetSome(transaction, at))).more);
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

/** As `setAllOffline`, but whoever asked by HTTP is kept by this node and given. */
export async function leaveConnections(db: Database, nodeNo: number, at: number): Promise<LeftDevice[]> {
  const all: LeftDevice[] = []
  for (let more = true; more; ) {
    const forgotten = await db.inTransaction((transaction) => forgetSome(transaction, at, nodeNo))
    all.push(...forgotten.left)
    more = forgotten.more
  }
  return all
}

/** Of those whose node is gone. */
async function forgetSome(transaction: Transaction, at: number, keeper?: number): Promise<Forgotten> {
  const gone = await transaction.query(GONE)
  if (gone.length === 0) return { left: [], more: false }
  const locked = await transaction.query(ONLINE, [gone.map((row) => row.no), forgottenAtOnce])
  const deviceNos = locked.map((row) => row.device_no)
  const kept = keeper === undefined ? [] : await transaction.query(ADOPT, [deviceNos, keeper])
  for (const { owner_no, device_no, door: transport } of await transaction.query(FORGET, [deviceNos, at])) {
    const [ownerNo, deviceNo] = [owner_no as number, device_no as number]
    deviceChanged(transaction, 'device.offline', { ownerNo, deviceNo, at, details: { transport } })
  }
  return { left: kept.map(toLeft), more: locked.length === forgottenAtOnce }
}

function toLeft(row: Row): LeftDevice {
  return {
    ownerNo: row.owner_no as number,
    deviceId: row.device_id as string,
    lastSeenAt: row.last_seen_at as number,
  }
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
    const { ownerNo, deviceId, online, at, transport, session } = change
    const device = devices.get(`${ownerNo} ${deviceId}`)
    if (device === undefined) continue
    const { deviceNo, known } = device
    const verdict = judgePresence(known, change)
    if (verdict === 'ignored') continue
    const isNews = known.online !== online
    // One that is connected is where it is connected, wherever else it asks.
    if (verdict === 'holds' || !hasSession(known)) device.nodeNo = nodeNo
    known.lastSeenAt = verdict === 'seen' ? Math.max(known.lastSeenAt ?? 0, at) : at
    if (verdict === 'holds')
      Object.assign(known, { online, since: at, transport, session: session ?? known.session })
    set.set(deviceNo, { ...known, device_no: deviceNo, node_no: device.nodeNo, seen: known.lastSeenAt })
    if (!isNews || verdict !== 'holds') continue
    const type = online ? 'device.online' : 'device.offline'
    deviceChanged(transaction, type, { ownerNo, deviceNo, at, details: { transport } })
  }
  if (set.size > 0) await transaction.query(SET, [JSON.stringify([...set.values()])])
}

function toKnown(row: Row): { deviceNo: number; nodeNo: number | null; known: KnownPresence } {
  return {
    deviceNo: row.device_no as number,
    nodeNo: row.node_no as number | null,
    known: {
      online: row.online as boolean,
      since: row.presence_since as number | null,
      lastSeenAt: row.last_seen_at as number | null,
      transport: row.door as KnownPresence['transport'],
      session: row.session_since as SteadyInstant | null,
    },
  }
}

function ascending(ids: number[]): string {
  return numbers([...new Set(ids)].sort((a, b) => a - b))
}
