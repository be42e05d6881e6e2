import type { DeviceContent } from '@jobcast/contract'
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

/** The fields that its owner puts. The time zone is one of the attributes, so that selectors see it. */
export type OwnFields = Required<Omit<DeviceContent, 'timeZone'>>

export type StoredDevice = OwnFields & {
  deviceId: string
  /** Reported by the device. */
  reportedAttributes: Attributes
  credentialCreatedAt: number | null
  credentialCreatedBy: string | null
  /** While set, certificates of the device are refused. */
  certificateRevokedAt: number | null
  presence: StoredPresence
  createdAt: number
  updatedAt: number
}

/** Omitted fields are reset. */
export type PutFields = Pick<OwnFields, 'deviceName' | 'tags'> & Partial<OwnFields>

/** `keepsWindow`: the window does not change. `clock`: since when its windows apply; default: always. */
export type DevicePut = PutFields &
  Originated & {
    ownerNo: number
    deviceId: string
    at: number
    clock?: SteadyInstant
    keepsWindow?: true
    expected?: ExpectedTags
  }

/** `isWithoutWindow`: refused, because the window does not exist. */
export type DevicePutResult = Put<StoredDevice> & { isWithoutWindow?: true }

/** Attributes that a device reports; null removes one. */
export type AttributeReport = {
  device: DeviceKey
  changes: Record<string, AttributeValue | null>
  at: number
  /** Since when the windows of groups that it joins apply; default: always. */
  clock?: SteadyInstant
}
export type AttributeOutcome = { kind: 'recorded' } | { kind: 'unknown-device' } | { kind: 'too-many' }

export type DeviceToken = { tokenId: string; tokenHash: Uint8Array; at: number; createdBy: string | null }

/** `busy`: devices with a running execution. `unknownNames`: attributes in the selector that no device has. */
export type DeviceCount = {
  total: number
  online: number
  busy: number
  unknownNames: string[]
  sample: string[]
}
type NamedDevice = { deviceNo: number; deviceId: string }
export type SelectedDevice = NamedDevice & { deviceName: string }

/** Compared with the token that a device presents. */
type DeviceCredential = DeviceKey & { tokenHash: Uint8Array }

/** Groups in selectors are already replaced. With `where`, slices before the end may be short. */
export type DeviceFilter = { tag?: string; online?: boolean; where?: Selector }

/** Effective attributes: if owner and device set the same name, the owner's value. */
type DeviceValueStore = {
  /** Existing devices, in any order, each with those of these attributes that it has. */
  listDeviceValues(devices: {
    ownerNo: number
    deviceIds: string[]
    names: string[]
  }): Promise<DeviceValues[]>
  /** The devices that lack any of these attributes. */
  listWithoutValues(devices: { ownerNo: number; deviceIds: string[]; names: string[] }): Promise<string[]>
  listNosWithoutValues(devices: {
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
  /** The existing devices of a list, in the order of their ids. */
  listNamedDevices(named: { ownerNo: number; deviceIds: string[] }): Promise<NamedDevice[]>
  /** In the order of their ids. A slice may be short, even empty, before the end. */
  selectDevices(selection: OwnerList<string> & { where: Selector }): Promise<Sliced<SelectedDevice, string>>
  countDevices(selection: { ownerNo: number; where: Selector }): Promise<DeviceCount>
  /** The names, with or without a prefix such as `reported.`, of attributes that no device has. */
  findUnknownNames(of: { ownerNo: number; names: string[] }): Promise<string[]>
  /** Ends the device's unfinished executions in the same step; undefined: no such device. */
  deleteDevice(device: DeviceKey & { moment: Moment; actor: string }): Promise<Moved[] | undefined>
  /**
   * Replaces the token of the device. Null removes it and revokes its certificates, which stay revoked when it gets a token
   * again.
   */
  setDeviceToken(device: DeviceKey & { token: DeviceToken | null; at: number }): Promise<boolean>
  /** Allows certificates of the device again; false: no such device. */
  allowDeviceCertificate(device: DeviceKey & { at: number }): Promise<boolean>
  /** Finds the device by the id of its token. */
  findDeviceByToken(token: { tokenId: string }): Promise<DeviceCredential | undefined>
  /** Undefined: certificates of the device are not accepted. `ownerName` may also be an ownerId. */
  findDeviceByCertificate(named: { ownerName: string; deviceId: string }): Promise<DeviceKey | undefined>
}
