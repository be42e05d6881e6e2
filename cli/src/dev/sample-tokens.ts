// The tokens of the simulated sample devices, kept between starts. New tokens at each start would replace one that a user
// has created to take over a device; so a device whose token no longer works is no longer simulated.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeviceCredential } from '@jobcast/contract'

function fileIn(dataFolder: string): string {
  return join(dataFolder, 'simulated-devices.json')
}

export function writeSampleTokens(dataFolder: string, credentials: DeviceCredential[]): void {
  writeFileSync(fileIn(dataFolder), `${JSON.stringify(credentials, undefined, 2)}\n`, { mode: 0o600 })
}

/** Empty if the file is missing or malformed. */
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
