// Attributes that a hawkBit device reports.

import { attributeProblem } from '@jobcast/contract'
import { reportAttributes } from '../../../domain/device/attributes.ts'
import type { DeviceKey } from '../../../domain/device/device-key.ts'
import type { DdiDeps } from './ddi-deps.ts'
import { invalid } from './errors.ts'

type Fields = Record<string, unknown>

export async function takeConfigData(deps: DdiDeps, device: DeviceKey, fields: Fields): Promise<void> {
  const { mode, data } = parseConfigData(fields)
  const named = Object.entries(data).map(([name, value]) => [attributeName(name), value] as const)
  const given: Fields = Object.fromEntries(named)
  const changes =
    mode === 'remove'
      ? Object.fromEntries(Object.keys(given).map((name) => [name, null]))
      : { ...(mode === 'replace' && (await others(deps, device, given))), ...given }
  if (Object.keys(changes).length > 0) await reportAttributes(deps, device, changes)
  deps.ddi.known.configSent(device)
}

function parseConfigData({ mode, data }: Fields): { mode: string; data: Fields } {
  const modes = ['merge', 'replace', 'remove']
  const name = mode === undefined || mode === null ? 'merge' : mode
  if (typeof name !== 'string' || !modes.includes(name.toLowerCase())) {
    throw invalid(`mode must be one of ${modes.join(', ')}.`)
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw invalid('data must be an object of attributes.')
  }
  return { mode: name.toLowerCase(), data: data as Fields }
}

/** Removes the attributes that the device reported before and does not report now. */
async function others({ store }: DdiDeps, device: DeviceKey, given: Fields): Promise<Record<string, null>> {
  const found = await store.getDevice(device)
  const names = Object.keys(found?.reportedAttributes ?? {}).filter((name) => !Object.hasOwn(given, name))
  return Object.fromEntries(names.map((name) => [name, null]))
}

const maxNameLength = 64

/** hawkBit allows any name, and devices cannot be changed, so characters that are not allowed here become _. */
function attributeName(name: string): string {
  const plain = name.slice(0, maxNameLength).replace(/[^A-Za-z0-9_.-]/g, '_')
  return attributeProblem(plain, '') === undefined ? plain : `_${plain.slice(0, maxNameLength - 1)}`
}
