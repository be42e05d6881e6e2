// Who is connected.

import { hasSession, judgePresence, type KnownPresence } from '../../domain/judge-presence.ts'
import type { LeftDevice } from '../../domain/nodes.ts'
import type { PresenceChange } from '../../domain/ports/presence.ts'
import type { Store } from '../../domain/ports/store.ts'
import { notNull, select } from '../schema/column.ts'
import { device } from '../schema/tables.ts'
import type { Database } from './database.ts'
import type { Row } from './rows.ts'
import type { Transaction } from './transaction.ts'

const { presenceSince, lastSeenAt, sessionSince } = device.fields
const PRESENCE = select({
  ...device.pick('ownerNo', 'deviceId', 'deviceNo', 'nodeNo', 'online', 'lastSeenAt', 'transport'),
  ...{ since: presenceSince, session: sessionSince },
})
const LOCK = `
  SELECT ${PRESENCE}
  FROM unnest($1::int[], $2::text[]) AS wanted (owner_no, device_id) JOIN device USING (owner_no, device_id)
  WHERE deleted_at IS NULL ORDER BY device.owner_no, device.device_id FOR NO KEY UPDATE OF device`
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
// A device that is just being written is left for the next time: a node must not wait here for one that stands still.
const ONLINE = `
  SELECT device_no FROM device WHERE online AND node_no = ANY ($1::int[])
  LIMIT $2 FOR NO KEY UPDATE OF device SKIP LOCKED`
// The first read may be older than the lock: a device may have come to another node in between, or its node back.
const isLeft = `
  device.device_no = locked.device_no AND online
    AND NOT EXISTS (SELECT FROM node WHERE node.node_no = device.node_no)`
const OFFLINE = select(device.pick('ownerNo', 'deviceNo', 'transport'))
const SET_OFFLINE = `
  UPDATE device SET online = false, presence_since = $2 FROM unnest($1::int[]) AS locked (device_no)
  WHERE ${isLeft} RETURNING ${OFFLINE}`
// Whoever is online was seen.
const ADOPTED = select({ ...device.pick('ownerNo', 'deviceId'), lastSeenAt: notNull(lastSeenAt) })
const ADOPT = `
  UPDATE device SET node_no = $2 FROM unnest($1::int[]) AS locked (device_no)
  WHERE ${isLeft} AND door = 'http' RETURNING ${ADOPTED}`
const offlineAtOnce = 1000

type PresenceSteps = Pick<Store, 'recordPresence' | 'setAllOffline'>

/** `adopted`: those that asked by HTTP, if they are kept. */
type WentOffline = { adopted: LeftDevice[]; more: boolean }

/** `nodeNo`: to which the devices are connected that this store is told of. */
export function buildPresenceSteps(db: Database, nodeNo: number): PresenceSteps {
  return {
    async recordPresence(changes) {
      if (changes.length === 0) return
      await db.inTransaction((transaction) => recordPresence(transaction, changes, nodeNo))
    },
    async setAllOffline({ at }) {
      while ((await db.inTransaction((transaction) => setSomeOffline(transaction, at))).more);
    },
  }
}

/** As `setAllOffline`, but whoever asked by HTTP is kept by this node and given. */
export async function leaveConnections(db: Database, nodeNo: number, at: number): Promise<LeftDevice[]> {
  const all: LeftDevice[] = []
  for (let more = true; more; ) {
    const offline = await db.inTransaction((transaction) => setSomeOffline(transaction, at, nodeNo))
    all.push(...offline.adopted)
    more = offline.more
  }
  return all
}

/** Of those whose node is gone. */
async function setSomeOffline(transaction: Transaction, at: number, keeper?: number): Promise<WentOffline> {
  const gone = await transaction.query(GONE)
  if (gone.length === 0) return { adopted: [], more: false }
  const locked = await transaction.query(ONLINE, [gone.map((row) => row.no), offlineAtOnce])
  const deviceNos = locked.map((row) => row.device_no)
  const adopted = keeper === undefined ? [] : await transaction.query(ADOPT, [deviceNos, keeper])
  for (const row of await transaction.query(SET_OFFLINE, [deviceNos, at])) {
    const { ownerNo, deviceNo, transport } = OFFLINE.read(row)
    transaction.named.deviceChanged('device.offline', { ownerNo, deviceNo, at, details: { transport } })
  }
  return { adopted: adopted.map(ADOPTED.read), more: locked.length === offlineAtOnce }
}

/** Each in its turn, but each device is written once. */
async function recordPresence(
  transaction: Transaction,
  changes: PresenceChange[],
  nodeNo: number,
): Promise<void> {
  const found = await transaction.query(LOCK, [
    changes.map(({ ownerNo }) => ownerNo),
    changes.map(({ deviceId }) => deviceId),
  ])
  const devices = new Map(
    found.map(PRESENCE.read).map((row) => [`${row.ownerNo} ${row.deviceId}`, toDevice(row)]),
  )
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
    transaction.named.deviceChanged(type, { ownerNo, deviceNo, at, details: { transport } })
  }
  if (set.size > 0) await transaction.query(SET, [JSON.stringify([...set.values()])])
}

type PresenceRow = ReturnType<typeof PRESENCE.read>

function toDevice(row: PresenceRow): Pick<PresenceRow, 'deviceNo' | 'nodeNo'> & { known: KnownPresence } {
  const { deviceNo, nodeNo, online, since, lastSeenAt, transport, session } = row
  return { deviceNo, nodeNo, known: { online, since, lastSeenAt, transport, session } }
}
