// Devices: what jobs run on.

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

    /** A merge patch: fields that are not given keep their value, null resets them. */
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
     * Creates or replaces any number of devices, or takes lines of NDJSON. A device that is refused does not stop the others:
     * the result names it by its line, counted from 1. With `csv` it takes lines of CSV, the first of which is the header. With
     * `merge` it sets only what a line has; with `dryRun` it stores nothing and says what would be overwritten.
     */
    import(
      devices: Iterable<ImportedDevice | string> | AsyncIterable<ImportedDevice | string>,
      { csv, ...options }: ImportOptions & { csv?: boolean | undefined } = {},
    ): Promise<ImportResult> {
      return (csv ? importCsv : importDevices)(transport, devices, options)
    },

    /** The token is shown only once; the previous one becomes void. */
    createCredential(deviceId: string, { signal }: CallOptions = {}): Promise<DeviceCredential> {
      return transport.value({ method: 'POST', path: path`/job/api/devices/${deviceId}/credential`, signal })
    },

    revokeCredential(deviceId: string, { signal }: CallOptions = {}): Promise<void> {
      return remove(transport, { path: path`/job/api/devices/${deviceId}/credential`, signal })
    },

    /**
     * Changes tags and attributes of all devices that match or are listed; with `dryRun` it only counts them. Not retried: the
     * call can be repeated, and then counts what was still left to change.
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

    /** Its client certificates, which revoking the credential has blocked, are accepted again. */
    allowCertificate(deviceId: string, { signal }: CallOptions = {}): Promise<Device> {
      const target = path`/job/api/devices/${deviceId}/allow-certificate`
      return transport.value({ method: 'POST', path: target, signal })
    },
  }
}
