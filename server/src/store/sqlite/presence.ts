// Presence of devices.

import { select } from '../schema/column.ts'
import { device } from '../schema/tables.ts'
import type { Steps } from '../tables/step.ts'
import type { SqliteWrites } from './writes.ts'

const BEFORE = select(device.pick('deviceNo', 'online'))
const FIND = `
  SELECT ${BEFORE} FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId AND deleted_at IS NULL` as const
// An online device that reconnects is online since the new connection.
const SET = `
  UPDATE device SET online = :online, presence_since = :at, last_seen_at = :at, transport = :transport
  WHERE device_no = :deviceNo`
const ONLINE = select(device.pick('ownerNo', 'deviceNo', 'transport'))
const FIND_ONLINE = `SELECT ${ONLINE} FROM device WHERE online = 1` as const
const SET_OFFLINE = 'UPDATE device SET online = 0, presence_since = :at WHERE online = 1'

type Presence = Steps<'recordPresence' | 'setAllOffline', SqliteWrites>

export const presenceWrites: Presence = {
  async recordPresence(queries, changes) {
    const find = queries.statementOf(FIND)
    const set = queries.statementOf(SET)
    for (const { ownerNo, deviceId, online, at, transport } of changes) {
      const row = find.get({ ownerNo, deviceId })
      if (row === undefined) continue
      const { deviceNo, online: wasOnline } = BEFORE.read(row)
      set.run({ online, at, transport, deviceNo })
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
}
