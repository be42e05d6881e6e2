// The sample devices come to life: a small fleet in the process of `jobcast dev`.

import type { Device, DeviceCredential } from '@jobcast/contract'
import { type Fleet, type FleetEvent, simulatedTag, startFleet } from '@jobcast/sim'
import type { LocalApi } from './local-api.ts'
import { readSampleTokens } from './sample-tokens.ts'

/** Works like the others, and always fails. */
export const failingId = 'kiosk-7'

const pattern = { workSeconds: { from: 1, to: 4 }, outputLines: 5 }

/** Those of the samples that still are there and still are tagged as simulated. */
export async function findSimulated(api: LocalApi, dataFolder: string): Promise<DeviceCredential[]> {
  const found: DeviceCredential[] = []
  for (const credential of readSampleTokens(dataFolder)) {
    const path = `/job/api/devices/${encodeURIComponent(credential.deviceId)}`
    const device = (await api.find(path)) as Device | undefined
    if (device?.tags.includes(simulatedTag)) found.push(credential)
  }
  return found
}

export function simulateSamples(
  mqtt: string,
  credentials: DeviceCredential[],
  tell: (event: FleetEvent) => void,
): Fleet {
  const devices = credentials.map((credential) =>
    credential.deviceId === failingId ? { ...credential, pattern: { failureRate: 1 } } : credential,
  )
  // Our own certificate may be one that only the people here trust.
  return startFleet({ mqtt, devices, pattern, tell, trustAnyCertificate: true })
}
