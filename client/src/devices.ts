// Devices: what jobs run on.

import { importDevices } from './import-devices.ts'
import { path } from './path.ts'
import { remove, resourceCalls } from './resource-calls.ts'
import type { Device, DeviceCount, DeviceCredential, ImportedDevice, ImportResult } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export type Devices = ReturnType<typeof deviceCalls>

export function deviceCalls(transport: Transport) {
  return {
    ...resourceCalls(transport, 'devices'),

    /** How many devices a selector matches, with a sample. */
    count(where: string, { signal }: CallOptions = {}): Promise<DeviceCount> {
      const target = '/job/api/devices/count'
      return transport.value({ method: 'POST', path: target, body: { where }, safe: true, signal })
    },

    /**
     * Creates or replaces any number of devices, or takes lines of NDJSON. A device that is refused does not stop the others:
     * the result names it by its line, counted from 1.
     */
    import(
      devices: Iterable<ImportedDevice | string> | AsyncIterable<ImportedDevice | string>,
      options: CallOptions = {},
    ): Promise<ImportResult> {
      return importDevices(transport, devices, options)
    },

    /** The token is shown only once; the previous one becomes void. */
    createCredential(deviceId: string, { signal }: CallOptions = {}): Promise<DeviceCredential> {
      return transport.value({ method: 'POST', path: path`/job/api/devices/${deviceId}/credential`, signal })
    },

    revokeCredential(deviceId: string, { signal }: CallOptions = {}): Promise<void> {
      return remove(transport, { path: path`/job/api/devices/${deviceId}/credential`, signal })
    },

    /** Its client certificates, which revoking the credential has blocked, are accepted again. */
    allowCertificate(deviceId: string, { signal }: CallOptions = {}): Promise<Device> {
      const target = path`/job/api/devices/${deviceId}/allow-certificate`
      return transport.value({ method: 'POST', path: target, signal })
    },
  }
}
