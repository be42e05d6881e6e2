// Presence of devices.

import type { LeftDevice } from '../../domain/common/ports/nodes.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import { hasSession, judgePresence } from '../../domain/device/judge-presence.ts'
import { deviceText } from '../../domain/device/ports/device-link.ts'
import type { PresenceChange } from '../../domain/device/ports/presence.ts'
import { deviceKeySet, keysOf, recordSet, type Writes } from '../queries.ts'
import { notNull, select } from '../schema/column.ts'
import { device } from '../schema/tables.ts'
import type { Database } from './database.ts'
import type { Transaction } from './transaction.ts'

const { lastSeenAt } = device.fields
const written = {
  ...device.pick('deviceNo', 'nodeNo', 'online', 'presenceSince', 'transport', 'sessionSince'),
  lastSeenAt,
}
const PRESENCE = select({ ...device.pick('ownerNo', 'deviceId'), ...written })
const LOCK = `
  SELECT ${PRESENCE} FROM ${deviceKeySet()}
    JOIN device ON device.owner_no = record."ownerNo" AND device.device_id = record."deviceId"
  WHERE deleted_at IS NULL ORDER BY device.owner_no, device.device_id FOR NO KEY UPDATE OF device` as const
const SET = `
  UPDATE device SET online = record.online, presence_since = record."presenceSince",
    last_seen_at = record."lastSeenAt", transport = record.transport, session_since = record."sessionSince",
    node_no = record."nodeNo"
  FROM ${recordSet('devices', written)} WHERE device.device_no = record."deviceNo"` as const
// Searches from each node number to the next, because there are few, with many devices each.
const GONE = `
  WITH RECURSIVE used AS (
    SELECT 0 AS no
    UNION ALL
    SELECT (SELECT node_no FROM device WHERE online AND node_no > used.no ORDER BY node_no LIMIT 1) FROM used
    WHERE used.no IS NOT NULL)
  SELECT no FROM used WHERE no > 0 AND NOT EXISTS (SELECT FROM node WHERE node.node_no = no)`
// Skips locked devices until the next call: a node must not wait here for one that hangs.
const ONLINE = `
  SELECT device_no FROM device WHERE online AND node_no = ANY ($1::int[])
  LIMIT $2 FOR NO KEY UPDATE OF device SKIP LOCKED`
// Checked again under the lock: a device may have connected to another node in between, or its node may have returned.
const isLeft = `
  device.device_no = locked.device_no AND online
    AND NOT EXISTS (SELECT FROM node WHERE node.node_no = device.node_no)`
const OFFLINE = select(device.pick('ownerNo', 'deviceNo', 'transport'))
const SET_OFFLINE = `
  UPDATE device SET online = false, presence_since = $2 FROM unnest($1::int[]) AS locked (device_no)
  WHERE ${isLeft} RETURNING ${OFFLINE}` as const
// An online device always has lastSeenAt.
const ADOPTED = select({
  ...device.pick('ownerNo', 'deviceId'),
  lastSeenAt: notNull(lastSeenAt),
  transport: notNull(device.fields.transport),
})
const ADOPT = `
  UPDATE device SET node_no = $2 FROM unnest($1::int[]) AS locked (device_no)
  WHERE ${isLeft} AND transport IN ('http', 'bridge') RETURNING ${ADOPTED}` as const
const offlineAtOnce = 1000

type PresenceSteps = Pick<Store, 'recordPresence' | 'setAllOffline'>

/** `adopted`: devices that polled over HTTP, if a keeper takes them over. */
type WentOffline = { adopted: LeftDevice[]; more: boolean }

/** `nodeNo`: the node of the devices whose presence is recorded. */
export function buildPresenceSteps(db: Database, nodeNo: number): PresenceSteps {
  return {
    async recordPresence(changes) {
      if (changes.length === 0) return
      await db.inTransaction(({ named }) => recordPresence(named, changes, nodeNo))
    },
    async setAllOffline({ at }) {
      await leaveConnections(db, at)
    },
  }
}

/** Marks devices of dead nodes as offline. With a keeper, devices that polled over HTTP are assigned to that node and returned. */
export async function leaveConnections(db: Database, at: number, keeper?: number): Promise<LeftDevice[]> {
  const all: LeftDevice[] = []
  for (let more = true; more; ) {
    const offline = await db.inTransaction((transaction) => setSomeOffline(transaction, at, keeper))
    all.push(...offline.adopted)
    more = offline.more
  }
  return all
}

/** A batch of devices of dead nodes. */
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

/** Applies the changes in order, but writes each device once. */
async function recordPresence(queries: Writes, changes: PresenceChange[], nodeNo: number): Promise<void> {
  const found = await queries.all(PRESENCE, LOCK, keysOf(changes))
  const devices = new Map(found.map((row) => [deviceText(row), row]))
  const changed = new Set<(typeof found)[number]>()
  for (const change of changes) {
    const { ownerNo, online, at, transport, session } = change
    const device = devices.get(deviceText(change))
    if (device === undefined) continue
    const { deviceNo, presenceSince: since, sessionSince } = device
    const before = { ...device, since, session: sessionSince }
    const verdict = judgePresence(before, change, nodeNo)
    if (verdict === 'ignored') continue
    changed.add(device)
    // A connected device belongs to the node of its connection, even if it polls another one.
    if (verdict === 'holds' || !hasSession(before)) device.nodeNo = nodeNo
    device.lastSeenAt = verdict === 'seen' ? Math.max(before.lastSeenAt ?? 0, at) : at
    if (verdict !== 'holds') continue
    Object.assign(device, { online, presenceSince: at, transport, sessionSince: session ?? sessionSince })
    if (before.online === online) continue
    const type = online ? 'device.online' : 'device.offline'
    queries.deviceChanged(type, { ownerNo, deviceNo, at, details: { transport } })
  }
  if (changed.size > 0) await queries.run(SET, { devices: [...changed] })
}
