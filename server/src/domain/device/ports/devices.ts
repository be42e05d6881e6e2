import type { DeviceValues } from '@jobcast/contract/parameters'
import type { AttributeValue, Selector } from '@jobcast/contract/selector'
import type { Originated } from '../../audit/ports/entries.ts'
import type { ExpectedTags } from '../../common/entity-tag.ts'
import type { SteadyInstant } from '../../common/instants.ts'
import type { OwnerList, Put, Sliced } from '../../common/ports/slices.ts'
import type { Moment } from '../../execution/execution.ts'
import type { Moved } from '../../execution/ports/executions.ts'
import type { WriteOptions } from '../../trigger/ports/write-options.ts'
import type { DeviceKey } from '../device-key.ts'
import type { StoredPresence } from './presence.ts'

export type Attributes = Record<string, AttributeValue>

export type StoredDevice = {
  deviceId: string
  deviceName: string
  tags: string[]
  /** Those that its owner has set, with its time zone as `timeZone`. */
  attributes: Attributes
  /** Those that it has reported itself. */
  reportedAttributes: Attributes
  credentialCreatedAt: number | null
  credentialCreatedBy: string | null
  /** While set, no certificate lets the device in. */
  certificateRevokedAt: number | null
  presence: StoredPresence
  /** Its own; those of its groups apply as well. */
  window: string | null
  createdAt: number
  updatedAt: number
}

/** What its owner puts. Attributes and window: none by default. */
export type OwnFields = {
  deviceName: string
  tags: string[]
  attributes?: Attributes
  window?: string | null
}

/** `keepsWindow`: it stays as it is. `clock`: since when its windows count; default: since ever. */
export type DevicePut = OwnFields &
  Originated & {
    ownerNo: number
    deviceId: string
    at: number
    clock?: SteadyInstant
    keepsWindow?: true
    expected?: ExpectedTags
  }

/** `isWithoutWindow`: refused, because there is no such window. */
export type DevicePutResult = Put<StoredDevice> & { isWithoutWindow?: true }

/** What a device reports of itself; null removes. */
export type AttributeReport = {
  device: DeviceKey
  changes: Record<string, AttributeValue | null>
  at: number
  /** Since when windows of groups that it comes into count; default: since ever. */
  clock?: SteadyInstant
}
export type AttributeOutcome = { kind: 'recorded' } | { kind: 'unknown-device' } | { kind: 'too-many' }

export type DeviceToken = { tokenId: string; tokenHash: Uint8Array; at: number; createdBy: string | null }

/** `busy`: those that carry something out. `unknownNames`: attributes that the selector names and no device has. */
export type DeviceCount = {
  total: number
  online: number
  busy: number
  unknownNames: string[]
  sample: string[]
}
type NamedDevice = { deviceNo: number; deviceId: string }
export type SelectedDevice = NamedDevice & { deviceName: string }

/** What a device must show to be let in. */
type DeviceCredential = DeviceKey & { tokenHash: Uint8Array }

/** Selectors have no groups here: they are replaced by what they stand for. With `where` a slice may be short before the end. */
export type DeviceFilter = { tag?: string; online?: boolean; where?: Selector }

/** Attributes as they count: of two with one name, the owner's. */
type DeviceValueStore = {
  /** Of those that are there, in any order, with these attributes as far as they have them. */
  listDeviceValues(devices: {
    ownerNo: number
    deviceIds: string[]
    names: string[]
  }): Promise<DeviceValues[]>
  /** Which of these devices do not have all of these attributes. */
  listLacking(devices: { ownerNo: number; deviceIds: string[]; names: string[] }): Promise<string[]>
  listLackingNos(devices: {
    ownerNo: number
    deviceNos: number[]
    names: string[]
  }): Promise<{ deviceNo: number; deviceId: string }[]>
}

export type DeviceStore = DeviceValueStore & {
  putDevices(puts: DevicePut[], options?: WriteOptions): Promise<DevicePutResult[]>
  /** In the order of the list. */
  recordAttributes(reports: AttributeReport[], options?: WriteOptions): Promise<AttributeOutcome[]>
  getDevice(device: DeviceKey): Promise<StoredDevice | undefined>
  listDevices(list: OwnerList<string> & { filter: DeviceFilter }): Promise<Sliced<StoredDevice, string>>
  /** Those of a list that are there, in the order of their ids. */
  listNamedDevices(named: { ownerNo: number; deviceIds: string[] }): Promise<NamedDevice[]>
  /** In the order of their ids. A slice may be short, even empty, before the end. */
  selectDevices(selection: OwnerList<string> & { where: Selector }): Promise<Sliced<SelectedDevice, string>>
  countDevices(selection: { ownerNo: number; where: Selector }): Promise<DeviceCount>
  /** Names of attributes, with or without a side, that no device has. */
  findUnknownNames(of: { ownerNo: number; names: string[] }): Promise<string[]>
  /** Ends the device's unfinished executions in the same step; undefined: no such device. */
  deleteDevice(device: DeviceKey & { moment: Moment; actor: string }): Promise<Moved[] | undefined>
  /**
   * Replaces the token the device had. Null leaves it without one, and from then on no certificate lets it in, also when
   * it gets a token again.
   */
  setDeviceToken(device: DeviceKey & { token: DeviceToken | null; at: number }): Promise<boolean>
  /** Certificates let the device in again; false: no such device. */
  allowDeviceCertificate(device: DeviceKey & { at: number }): Promise<boolean>
  /** Whose token has this id. */
  findDeviceByToken(token: { tokenId: string }): Promise<DeviceCredential | undefined>
  /** Whether a certificate of the device lets it in; `ownerName` may also be an ownerId. */
  findDeviceByCertificate(named: { ownerName: string; deviceId: string }): Promise<DeviceKey | undefined>
}
