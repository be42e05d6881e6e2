// Devices: what jobs run on.

import { importCsv, importDevices } from './import-devices.ts'
import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { ifAbsent, type Put, put, remove } from './put.ts'
import type {
  Device,
  DeviceContent,
  DeviceCount,
  DeviceCredential,
  DevicePatch,
  DevicesChange,
  DevicesChanged,
  ImportedDevice,
  ImportResult,
  ListDevicesQuery,
} from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Devices {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates or replaces the device. `deviceName` defaults to the id, `tags` to none. */
  put(
    deviceId: string,
    content: DeviceContent = {},
    { signal, ...options }: CallOptions & { ifAbsent?: boolean | undefined } = {},
  ): Promise<Put<Device>> {
    const call = { path: path`/job/api/devices/${deviceId}`, body: content, signal }
    return put(this.#transport, ifAbsent(call, options))
  }

  /** A merge patch: fields that are not given keep their value, null resets them. */
  patch(deviceId: string, patch: DevicePatch, { signal }: CallOptions = {}): Promise<Device> {
    return this.#transport.value({
      method: 'PATCH',
      path: path`/job/api/devices/${deviceId}`,
      body: patch,
      safe: true,
      signal,
    })
  }

  get(deviceId: string, { signal }: CallOptions = {}): Promise<Device> {
    return this.#transport.value({ method: 'GET', path: path`/job/api/devices/${deviceId}`, signal })
  }

  list(query: Query<ListDevicesQuery> = {}, options: CallOptions = {}): List<Device> {
    return new List(this.#transport, '/job/api/devices', query, options)
  }

  /** How many devices a selector matches, with a sample. */
  count(where: string, { signal }: CallOptions = {}): Promise<DeviceCount> {
    return this.#transport.value({
      method: 'POST',
      path: '/job/api/devices/count',
      body: { where },
      safe: true,
      signal,
    })
  }

  /**
   * Creates or replaces any number of devices, or takes lines of NDJSON. A device that is refused does not stop the others:
   * the result names it by its line, counted from 1. With `csv` it takes lines of CSV, the first of which is the header.
   */
  import(
    devices: Iterable<ImportedDevice | string> | AsyncIterable<ImportedDevice | string>,
    { csv, ...options }: CallOptions & { csv?: boolean | undefined } = {},
  ): Promise<ImportResult> {
    return (csv ? importCsv : importDevices)(this.#transport, devices, options)
  }

  /**
   * Changes tags and attributes of all devices that match or are listed; with `dryRun` it only counts them. Not retried: the
   * call can be repeated, and then counts what was still left to change.
   */
  change(
    change: DevicesChange,
    { dryRun, signal }: CallOptions & { dryRun?: boolean | undefined } = {},
  ): Promise<DevicesChanged> {
    return this.#transport.value({
      method: 'POST',
      path: '/job/api/devices/change',
      query: { ...(dryRun && { dryRun }) },
      body: change,
      holdSeconds: 600,
      signal,
    })
  }

  /** Cancels its unfinished executions. */
  delete(deviceId: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/devices/${deviceId}`, signal })
  }

  /** The token is shown only once; the previous one becomes void. */
  createCredential(deviceId: string, { signal }: CallOptions = {}): Promise<DeviceCredential> {
    return this.#transport.value({
      method: 'POST',
      path: path`/job/api/devices/${deviceId}/credential`,
      signal,
    })
  }

  revokeCredential(deviceId: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/devices/${deviceId}/credential`, signal })
  }

  /** Its client certificates, which revoking the credential has blocked, are accepted again. */
  allowCertificate(deviceId: string, { signal }: CallOptions = {}): Promise<Device> {
    return this.#transport.value({
      method: 'POST',
      path: path`/job/api/devices/${deviceId}/allow-certificate`,
      signal,
    })
  }
}
