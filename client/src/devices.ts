// Devices, which run jobs.

import { type ImportOptions, importCsv, importDevices } from './import-devices.ts'
import { path } from './path.ts'
import { remove, resourceCalls } from './resource-calls.ts'
import type {
  Device,
  DeviceCount,
  DeviceCredential,
  DevicePatch,
  DevicesChange,
  DevicesChanged,
  ImportedDevice,
  ImportResult,
} from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export type Devices = ReturnType<typeof deviceCalls>

export function deviceCalls(transport: Transport) {
  return {
    ...resourceCalls(transport, 'devices'),

    /** A merge patch: omitted fields keep their values, null resets a field. */
    patch(deviceId: string, patch: DevicePatch, { signal }: CallOptions = {}): Promise<Device> {
      const target = path`/job/api/devices/${deviceId}`
      return transport.value({ method: 'PATCH', path: target, body: patch, safe: true, signal })
    },

    /** How many devices a selector matches, with a sample. */
    count(where: string, { signal }: CallOptions = {}): Promise<DeviceCount> {
      const target = '/job/api/devices/count'
      return transport.value({ method: 'POST', path: target, body: { where }, safe: true, signal })
    },

    /**
     * Creates or replaces any number of devices, given as objects or lines of NDJSON. Invalid devices do not stop the others:
     * the result lists their lines, counted from 1. With `csv` the lines are CSV, and the first one is the header. With
     * `merge` only the fields of a line are set; with `dryRun` nothing is stored, and the result has the values that would change.
     */
    import(
      devices: Iterable<ImportedDevice | string> | AsyncIterable<ImportedDevice | string>,
      { csv, ...options }: ImportOptions & { csv?: boolean | undefined } = {},
    ): Promise<ImportResult> {
      return (csv ? importCsv : importDevices)(transport, devices, options)
    },

    /** The token is shown only once; the previous one becomes invalid. */
    createCredential(deviceId: string, { signal }: CallOptions = {}): Promise<DeviceCredential> {
      return transport.value({ method: 'POST', path: path`/job/api/devices/${deviceId}/credential`, signal })
    },

    revokeCredential(deviceId: string, { signal }: CallOptions = {}): Promise<void> {
      return remove(transport, { path: path`/job/api/devices/${deviceId}/credential`, signal })
    },

    /**
     * Changes tags and attributes of all selected or listed devices; with `dryRun` it only counts them. Not retried: the
     * call can be repeated, and then counts only the remaining changes.
     */
    change(
      change: DevicesChange,
      { dryRun, signal }: CallOptions & { dryRun?: boolean | undefined } = {},
    ): Promise<DevicesChanged> {
      return transport.value({
        method: 'POST',
        path: '/job/api/devices/change',
        query: { ...(dryRun && { dryRun }) },
        body: change,
        holdSeconds: 600,
        signal,
      })
    },

    /** Accepts its client certificates again, which were blocked when the credential was revoked. */
    allowCertificate(deviceId: string, { signal }: CallOptions = {}): Promise<Device> {
      const target = path`/job/api/devices/${deviceId}/allow-certificate`
      return transport.value({ method: 'POST', path: target, signal })
    },
  }
}
