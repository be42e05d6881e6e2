// What all who read devices share.

import type { StoredDevice, Transport } from '../../domain/store.ts'
import type { Row } from './rows.ts'

export const DEVICE_COLUMNS = `
  device.device_no, device.device_id, device_name, tags, token_created_at, online, presence_since, last_seen_at, door,
  created_at, updated_at, deleted_at`
export function toDevice(row: Row): StoredDevice {
  return {
    deviceId: row.device_id as string,
    deviceName: row.device_name as string,
    tags: JSON.parse(row.tags as string),
    credentialCreatedAt: row.token_created_at as number | null,
    presence: {
      online: row.online as boolean,
      since: row.presence_since as number | null,
      lastSeenAt: row.last_seen_at as number | null,
      transport: row.door as Transport | null,
    },
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  }
}
