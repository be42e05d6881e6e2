// Who is connected, and what was handed to whom.

import { inBoth } from '../queries.ts'
import { select } from '../schema/column.ts'
import { device } from '../schema/tables.ts'
import type { Steps } from '../tables/step.ts'
import type { SqliteQueries } from './named-queries.ts'

const { ownerNo, deviceNo, online, transport } = device.fields
const BEFORE = select({ deviceNo, online })
const FIND = `
  SELECT ${BEFORE} FROM device WHERE owner_no = ? AND device_id = ? AND deleted_at IS NULL`
// Whoever is online already and comes back by another connection is online since then.
const SET = `
  UPDATE device SET online = ?, presence_since = ?, last_seen_at = ?, door = ? WHERE device_no = ?`
const ONLINE = select({ ownerNo, deviceNo, transport })
const FIND_ONLINE = `SELECT ${ONLINE} FROM device WHERE online = 1`
const SET_OFFLINE = 'UPDATE device SET online = 0, presence_since = :at WHERE online = 1'
const NOTIFIED = inBoth(
  ({ isIn }) => `
  UPDATE execution SET notified_at = :at WHERE ${isIn('execution_id', 'ids', 'bigint')} AND notified_at IS NULL`,
)
const DELIVERED = inBoth(
  ({ isIn }) => `
  UPDATE execution SET delivered_at = :at, notified_at = coalesce(notified_at, :at)
  WHERE ${isIn('execution_id', 'ids', 'bigint')} AND delivered_at IS NULL`,
)

type Presence = Steps<'recordPresence' | 'setAllOffline' | 'recordDeliveries', SqliteQueries>

export const presenceWrites: Presence = {
  async recordPresence(queries, changes) {
    const find = queries.statementOf(FIND)
    const set = queries.statementOf(SET)
    for (const { ownerNo, deviceId, online, at, transport } of changes) {
      const row = find.get(ownerNo, deviceId)
      if (row === undefined) continue
      const { deviceNo, online: wasOnline } = BEFORE.read(row)
      set.run(Number(online), at, at, transport, deviceNo)
      if (wasOnline === online) continue
      const type = online ? 'device.online' : 'device.offline'
      queries.deviceChanged(type, { ownerNo, deviceNo, at, details: { transport } })
    }
  },
  async setAllOffline(queries, { at }) {
    for (const { ownerNo, deviceNo, transport } of await queries.all(ONLINE, FIND_ONLINE)) {
      queries.deviceChanged('device.offline', { ownerNo, deviceNo, at, details: { transport } })
    }
    await queries.run(SET_OFFLINE, { at })
  },
  async recordDeliveries(queries, { notified, delivered, at }) {
    if (notified.length > 0) await queries.run(NOTIFIED, { ids: notified, at })
    if (delivered.length > 0) await queries.run(DELIVERED, { ids: delivered, at })
  },
}
