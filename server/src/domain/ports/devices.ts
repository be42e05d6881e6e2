import type { ExpectedTags } from '../entity-tag.ts'
import type { Moment } from '../execution.ts'
import type { Moved } from './executions.ts'
import type { StoredPresence } from './presence.ts'
import type { OwnerList, Put, Sliced } from './slices.ts'
import type { WriteOptions } from './write-options.ts'

/** A device as its callers name it. */
export type DeviceKey = { ownerNo: number; deviceId: string }

export type StoredDevice = {
  deviceId: string
  deviceName: string
  tags: string[]
  credentialCreatedAt: number | null
  credentialCreatedBy: string | null
  /** While set, no certificate lets the device in. */
  certificateRevokedAt: number | null
  presence: StoredPresence
  createdAt: number
  updatedAt: number
}

export type DevicePut = {
  ownerNo: number
  deviceId: string
  deviceName: string
  tags: string[]
  at: number
  expected?: ExpectedTags
}

export type DeviceToken = { tokenId: string; tokenHash: Uint8Array; at: number; createdBy: string | null }

/** What a device must show to be let in. */
export type DeviceCredential = DeviceKey & { tokenHash: Uint8Array }

export type DeviceStore = {
  putDevices(puts: DevicePut[], options?: WriteOptions): Promise<Put<StoredDevice>[]>
  getDevice(device: DeviceKey): Promise<StoredDevice | undefined>
  listDevices(
    list: OwnerList<string> & { filter: { tag?: string; online?: boolean } },
  ): Promise<Sliced<StoredDevice, string>>
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
