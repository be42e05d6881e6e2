// Single devices, and their lists. Puts of many devices are in device-puts.ts.

import type { DeviceKey } from '../../domain/device/device-key.ts'
import { ownFields } from '../../domain/device/own-fields.ts'
import type { Attributes, DeviceToken, StoredDevice } from '../../domain/device/ports/devices.ts'
import { inBoth, type Sql, sliced, type Writes } from '../queries.ts'
import { computed, notNull, orNull, rows, select, text } from '../schema/column.ts'
import { device, devicePutFields } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import { dropDeviceWindows, OWN_WINDOW } from './device-windows.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const { tokenCreatedAt, tokenCreatedBy, tokenHash, presenceSince, revokedAt } = device.fields
/** Names need no quoting: domain/device/attributes.ts refuses others. */
export const attributesWhere = (which: 'reported' | 'NOT reported') =>
  computed(
    `(SELECT string_agg('"' || name || '":' || value, ',') FROM device_attribute
    WHERE device_attribute.device_no = device.device_no AND ${which})`,
    orNull(text()),
  )
export const deviceFields = {
  ...devicePutFields,
  ...device.pick('deviceId', 'createdAt', 'updatedAt', 'online', 'lastSeenAt', 'transport'),
  ...{ credentialCreatedAt: tokenCreatedAt, credentialCreatedBy: tokenCreatedBy, since: presenceSince },
  certificateRevokedAt: revokedAt,
  attributes: attributesWhere('NOT reported'),
  reportedAttributes: attributesWhere('reported'),
  window: OWN_WINDOW,
}
const DEVICE = select(deviceFields)
const FIND = `
  SELECT ${DEVICE} FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId AND deleted_at IS NULL` as const
const IS_WANTED = '(CAST(:online AS boolean) IS NULL OR online = CAST(:online AS boolean))'
const list = (where: string) =>
  `
  SELECT ${DEVICE} FROM device WHERE owner_no = :ownerNo AND device_id > :after AND deleted_at IS NULL AND ${where}
  ORDER BY device_id LIMIT :limit` as const
const LIST = list(IS_WANTED)
// The condition of the index device_online, so that offline devices are not read.
const LIST_ONLINE = inBoth(({ is }) => list(is === 'sqlite' ? 'online = 1' : 'online'))
const LIST_BY_TAG = inBoth(
  ({ join }) => `
  SELECT ${DEVICE} FROM device_tag
    ${join} device ON device.owner_no = device_tag.owner_no AND device.device_id = device_tag.device_id
  WHERE device_tag.owner_no = :ownerNo AND device_tag.device_id > :after AND tag = :tag AND ${IS_WANTED}
  ORDER BY device_tag.device_id LIMIT :limit`,
)
const key = device.pick('ownerNo', 'deviceId')
const KEY = select(key)
const CREDENTIAL = select({ ...key, tokenHash: notNull(tokenHash) })
const BY_TOKEN = `SELECT ${CREDENTIAL} FROM device WHERE token_id = :tokenId` as const
// Ids take precedence, so that an owner named like the id of another one cannot replace it.
const BY_CERTIFICATE = `
  SELECT ${KEY} FROM device
  WHERE owner_no = coalesce(
      (SELECT owner_no FROM owner WHERE owner_id = :ownerName),
      (SELECT owner_no FROM owner WHERE owner_name = :ownerName))
    AND device_id = :deviceId AND deleted_at IS NULL AND revoked_at IS NULL` as const

const SET_TOKEN = `
  UPDATE device SET token_id = :tokenId, token_hash = :tokenHash, token_created_at = :createdAt,
    token_created_by = :createdBy, revoked_at = coalesce(CAST(:revokedAt AS bigint), revoked_at), claim_hash = :claimHash
  WHERE owner_no = :ownerNo AND device_id = :deviceId AND deleted_at IS NULL RETURNING device_no AS "deviceNo"`
const ALLOW_CERTIFICATE = `
  UPDATE device SET revoked_at = NULL
  WHERE owner_no = :ownerNo AND device_id = :deviceId AND deleted_at IS NULL AND revoked_at IS NOT NULL
  RETURNING device_no AS "deviceNo"`
const NAMED = select(device.pick('deviceNo', 'deviceId'))
const LIST_NAMED = inBoth(
  ({ isIn }) => `
  SELECT ${NAMED} FROM device
  WHERE owner_no = :ownerNo AND ${isIn('device_id', 'deviceIds', 'text')} AND deleted_at IS NULL
  ORDER BY device_id`,
)
const DELETED = select(device.pick('deviceNo', 'tags'))
const LOCK = inBoth(
  ({ lock }) => `
  SELECT ${DELETED} FROM device WHERE owner_no = :ownerNo AND device_id = :deviceId AND deleted_at IS NULL ${lock}`,
)
const UNTAG = inBoth(
  ({ isIn }) => `
  DELETE FROM device_tag WHERE owner_no = :ownerNo AND device_id = :deviceId AND ${isIn('tag', 'tags', 'text')}`,
)
const DROP_ATTRIBUTES = 'DELETE FROM device_attribute WHERE device_no = :deviceNo'
// A deleted device has no token, so its token becomes invalid at once.
const DELETE = inBoth(
  ({ is }) => `
  UPDATE device SET deleted_at = :at, tags = '[]', token_id = NULL, token_hash = NULL, token_created_at = NULL,
    token_created_by = NULL,
    online = ${is === 'sqlite' ? '0' : 'false, node_no = NULL, session_since = NULL'}, presence_since = NULL,
    last_seen_at = NULL, transport = NULL, revoked_at = NULL, claim_hash = NULL
  WHERE device_no = :deviceNo`,
)

type DeviceReads = ReadSteps<
  'getDevice' | 'listDevices' | 'listNamedDevices' | 'findDeviceByToken' | 'findDeviceByCertificate'
>

export const deviceReads: DeviceReads = {
  async getDevice(queries, { ownerNo, deviceId }) {
    const row = await queries.get(DEVICE, FIND, { ownerNo, deviceId })
    return row && toDevice(row)
  },
  async listDevices(queries, { ownerNo, filter: { tag, online = null }, slice: { after = '', limit } }) {
    const sql: Sql = tag !== undefined ? LIST_BY_TAG : online ? LIST_ONLINE : LIST
    const values = { ownerNo, tag, online, after, limit: limit + 1 }
    const found = await queries.all(DEVICE, sql, values)
    return sliced(found.map(toDevice), limit, ({ deviceId }) => deviceId)
  },
  listNamedDevices: (queries, named) => queries.all(NAMED, LIST_NAMED, partOf(LIST_NAMED, named)),
  findDeviceByToken: (queries, { tokenId }) => queries.get(CREDENTIAL, BY_TOKEN, { tokenId }),
  findDeviceByCertificate: (queries, named) =>
    queries.get(KEY, BY_CERTIFICATE, partOf(BY_CERTIFICATE, named)),
}

export const deviceWrites: WriteSteps<'setDeviceToken' | 'allowDeviceCertificate'> = {
  setDeviceToken,
  async allowDeviceCertificate(queries, { ownerNo, deviceId, at }) {
    const row = await queries.get(rows(device.pick('deviceNo')), ALLOW_CERTIFICATE, { ownerNo, deviceId })
    const audited = { deviceId }
    if (row)
      queries.deviceChanged('device.certificate_allowed', { ownerNo, deviceNo: row.deviceNo, at, audited })
    return row !== undefined || (await queries.get(DEVICE, FIND, { ownerNo, deviceId })) !== undefined
  },
}

export async function setDeviceToken(
  queries: Writes,
  change: DeviceKey & { token: DeviceToken | null; at: number; claimHash?: Uint8Array | null },
): Promise<boolean> {
  const { ownerNo, deviceId, token, at, claimHash = null } = change
  const values = token
    ? {
        tokenId: token.tokenId,
        tokenHash: token.tokenHash,
        createdAt: token.at,
        createdBy: token.createdBy,
        revokedAt: null,
      }
    : { tokenId: null, tokenHash: null, createdAt: null, createdBy: null, revokedAt: at }
  const row = await queries.get(rows(device.pick('deviceNo')), SET_TOKEN, {
    ownerNo,
    deviceId,
    claimHash,
    ...values,
  })
  if (row === undefined) return false
  const type = token ? 'device.credential_set' : 'device.credential_revoked'
  queries.deviceChanged(type, { ownerNo, deviceNo: row.deviceNo, at, audited: { deviceId } })
  return true
}

/** Deletes only the row; the caller ends its executions in the same transaction. Returns its number; undefined: no such device. */
export async function deleteDeviceRow(
  queries: Writes,
  { ownerNo, deviceId, at }: DeviceKey & { at: number },
): Promise<number | undefined> {
  const row = await queries.get(DELETED, LOCK, { ownerNo, deviceId })
  if (row === undefined) return undefined
  const { deviceNo, tags } = row
  const before = ownFields(toDevice(await queries.one(DEVICE, FIND, { ownerNo, deviceId })))
  queries.send(UNTAG, { ownerNo, deviceId, tags })
  queries.send(DROP_ATTRIBUTES, { deviceNo })
  dropDeviceWindows(queries, { ownerNo, deviceId, deviceNo })
  await queries.run(DELETE, { deviceNo, at })
  queries.deviceChanged('device.deleted', { ownerNo, deviceNo, at, audited: { deviceId, before } })
  return deviceNo
}

type DeviceRow = ReturnType<typeof DEVICE.read>

export function toDevice(row: DeviceRow): StoredDevice {
  const { online, since, lastSeenAt, transport, attributes, reportedAttributes, ...fields } = row
  return {
    ...fields,
    attributes: toAttributes(attributes),
    reportedAttributes: toAttributes(reportedAttributes),
    presence: { online, since, lastSeenAt, transport },
  }
}

export function toAttributes(members: string | null): Attributes {
  return members === null ? {} : JSON.parse(`{${members}}`)
}
