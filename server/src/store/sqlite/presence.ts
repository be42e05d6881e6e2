// Who is connected, and what was handed to whom.

import { inBoth } from '../queries.ts'
import { select } from '../schema/column.ts'
import { device } from '../schema/tables.ts'
import type { WriteSteps } from '../tables/step.ts'

const { ownerNo, deviceNo, online, door } = device.fields
const BEFORE = select({ deviceNo, online })
const FIND = `
  SELECT ${BEFORE} FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId AND deleted_at IS NULL`
// Whoever is online already and comes back by another connection is online since then.
const SET = `
  UPDATE device SET online = :online, presence_since = :at, last_seen_at = :at, door = :door WHERE device_no = :deviceNo`
const ONLINE = select({ ownerNo, deviceNo, door })
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

export const presenceWrites: WriteSteps<'recordPresence' | 'setAllOffline' | 'recordDeliveries'> = {
  async recordPresence(queries, changes) {
    for (const { ownerNo, deviceId, online, at, door } of changes) {
      const before = await queries.get(BEFORE, FIND, { ownerNo, deviceId })
      if (before === undefined) continue
      const { deviceNo } = before
      await queries.run(SET, { deviceNo, online, at, door })
      if (before.online === online) continue
      const type = online ? 'device.online' : 'device.offline'
      queries.deviceChanged(type, { ownerNo, deviceNo, at, details: { door } })
    }
  },
  async setAllOffline(queries, { at }) {
    for (const { ownerNo, deviceNo, door } of await queries.all(ONLINE, FIND_ONLINE)) {
      queries.deviceChanged('device.offline', { ownerNo, deviceNo, at, details: { door } })
    }
    await queries.run(SET_OFFLINE, { at })
  },
  async recordDeliveries(queries, { notified, delivered, at }) {
    if (notified.length > 0) await queries.run(NOTIFIED, { ids: notified, at })
    if (delivered.length > 0) await queries.run(DELIVERED, { ids: delivered, at })
  },
}
