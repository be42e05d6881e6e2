// The tokens of the simulated sample devices, kept from start to start. Were they made anew at each start, somebody who
// has made a token to be such a device would lose it; so a token that works no more is a device that is ours no more.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeviceCredential } from '@jobcast/contract'

function fileIn(dataFolder: string): string {
  return join(dataFolder, 'simulated-devices.json')
}

export function writeSampleTokens(dataFolder: string, credentials: DeviceCredential[]): void {
  writeFileSync(fileIn(dataFolder), `${JSON.stringify(credentials, undefined, 2)}\n`, { mode: 0o600 })
}

/** None where the file is missing, or is not what was written. */
export function readSampleTokens(dataFolder: string): DeviceCredential[] {
  try {
    const kept: unknown = JSON.parse(readFileSync(fileIn(dataFolder), 'utf8'))
    return Array.isArray(kept) ? kept.filter(isCredential) : []
  } catch {
    return []
  }
}

function isCredential(value: Partial<DeviceCredential> | null): value is DeviceCredential {
  return typeof value?.deviceId === 'string' && typeof value.deviceToken === 'string'
}
