// What an import would do: which devices it would create, and which values of existing ones it would overwrite.

import type { DeviceContent, ImportResult, Overwritten } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { requireWindow } from '../window/window.ts'
import { ownAttributes } from './attributes.ts'
import type { DeviceDeps } from './device.ts'
import { deviceTag, ownFields } from './device-tag.ts'
import { patchedContent } from './patch-device.ts'
import type { OwnFields, StoredDevice } from './ports/devices.ts'

/** `keepsWindow`: of a format that has no windows. */
export type ImportedDevice = { deviceId: string; keepsWindow?: true } & DeviceContent
export type ImportOutcome = 'created' | 'updated' | 'unchanged'

const maxFields = 100

export class ImportPreview {
  readonly #deps: DeviceDeps
  readonly #caller: Caller
  readonly #merge: boolean
  /** A later line of the same device finds it there. */
  readonly #created = new Set<string>()
  readonly #overwritten = new Map<string, Overwritten>()
  readonly #windows = new Map<string, Promise<void>>()

  constructor(deps: DeviceDeps, caller: Caller, merge: boolean) {
    this.#deps = deps
    this.#caller = caller
    this.#merge = merge
  }

  /** Throws J-500 and J-311, as the import would. */
  async take({ deviceId, keepsWindow, ...content }: ImportedDevice): Promise<ImportOutcome> {
    const { ownerNo } = this.#caller
    const before = await this.#deps.store.getDevice({ ownerNo, deviceId })
    const wanted = before && this.#merge ? patchedContent(before, content) : content
    const after = fieldsOf(deviceId, wanted)
    if (keepsWindow) after.window = before?.window ?? null
    await this.#requireWindow(content.window)
    if (before === undefined) {
      if (this.#created.has(deviceId)) return 'updated'
      this.#created.add(deviceId)
      return 'created'
    }
    if (deviceTag(before) === deviceTag(after)) return 'unchanged'
    for (const change of changesOf(before, after)) this.#note(deviceId, change)
    return 'updated'
  }

  /** What concerns most devices first. */
  overwritten(): NonNullable<ImportResult['overwritten']> {
    return [...this.#overwritten.values()].sort((a, b) => b.devices - a.devices).slice(0, maxFields)
  }

  #note(deviceId: string, { field, before, after }: Change): void {
    const known = this.#overwritten.get(field)
    if (known) known.devices++
    else this.#overwritten.set(field, { field, devices: 1, example: { deviceId, before, after } })
  }

  /** Read once, however many lines name it. */
  async #requireWindow(windowName: string | null | undefined): Promise<void> {
    if (windowName === undefined || windowName === null) return
    const known = this.#windows.get(windowName) ?? requireWindow(this.#deps, this.#caller, windowName)
    this.#windows.set(windowName, known)
    await known
  }
}

function fieldsOf(deviceId: string, content: DeviceContent): Required<OwnFields> {
  const { deviceName = deviceId, tags = [], window = null } = content
  return ownFields({ deviceName, tags: tags.toSorted(), attributes: ownAttributes(content), window })
}

type Change = { field: string; before: string; after: string | null }

/** Of what a device has; what it did not have before is not overwritten. */
function changesOf(before: StoredDevice, after: Required<OwnFields>): Change[] {
  const [had, has] = [textsOf(before), textsOf(ownFields(after))]
  return [...had].flatMap(([field, text]) =>
    has.get(field) === text ? [] : [{ field, before: text, after: has.get(field) ?? null }],
  )
}

function textsOf({ deviceName, tags, attributes = {}, window }: OwnFields): Map<string, string> {
  const { timeZone, ...others } = attributes
  const texts = new Map([['deviceName', deviceName]])
  if (tags.length > 0) texts.set('tags', tags.join(', '))
  if (timeZone !== undefined) texts.set('timeZone', String(timeZone))
  if (window) texts.set('window', window)
  for (const [name, value] of Object.entries(others)) texts.set(`attributes.${name}`, String(value))
  return texts
}
