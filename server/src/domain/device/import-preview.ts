// Preview of an import: the devices that it would create, and the values of existing ones that it would overwrite.

import type { DeviceContent, ImportResult, Overwritten } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { requireWindow } from '../window/window.ts'
import type { DeviceDeps } from './device.ts'
import { contentOf, fieldsOf } from './device-content.ts'
import { deviceTag } from './own-fields.ts'
import { patchedContent } from './patch-device.ts'
import type { OwnFields } from './ports/devices.ts'

/** `keepsWindow`: the import format has no windows. */
export type ImportedDevice = { deviceId: string; keepsWindow?: true } & DeviceContent
export type ImportOutcome = 'created' | 'updated' | 'unchanged'

const maxFields = 100

export class ImportPreview {
  readonly #deps: DeviceDeps
  readonly #caller: Caller
  readonly #merge: boolean
  /** State for later lines of the same device: its first line, and the result of the last one if there are several. */
  readonly #first = new Map<string, string>()
  readonly #last = new Map<string, string>()
  /** Serializes concurrent lines of one device. */
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #overwritten = new Map<string, Overwritten>()
  readonly #windows = new Map<string, Promise<void>>()

  constructor(deps: DeviceDeps, caller: Caller, merge: boolean) {
    this.#deps = deps
    this.#caller = caller
    this.#merge = merge
  }

  /** Throws J-500 and J-311, as the import would. */
  async take(line: ImportedDevice): Promise<ImportOutcome> {
    const { deviceId } = line
    const work = () => this.#judge(line)
    const turn = this.#turns.get(deviceId)?.then(work, work) ?? work()
    this.#turns.set(deviceId, turn)
    try {
      return await turn
    } finally {
      if (this.#turns.get(deviceId) === turn) this.#turns.delete(deviceId)
    }
  }

  async #judge(line: ImportedDevice): Promise<ImportOutcome> {
    const { deviceId } = line
    const stored = await this.#deps.store.getDevice({ ownerNo: this.#caller.ownerNo, deviceId })
    const before = this.#before(deviceId, stored)
    const after = this.#after(before, line)
    await this.#requireWindow(line.window)
    // Stored as text: there may be 64 MiB of lines, and objects take several times as much memory.
    if (this.#first.has(deviceId)) this.#last.set(deviceId, JSON.stringify(after))
    else this.#first.set(deviceId, JSON.stringify(line))
    if (before === undefined) return 'created'
    if (deviceTag(before) === deviceTag(after)) return 'unchanged'
    if (stored) this.#noteChanges(deviceId, stored, before, after)
    return 'updated'
  }

  #before(deviceId: string, stored: OwnFields | undefined): OwnFields | undefined {
    const last = this.#last.get(deviceId)
    if (last !== undefined) return JSON.parse(last)
    const first = this.#first.get(deviceId)
    return first === undefined ? stored : this.#after(stored, JSON.parse(first))
  }

  #after(before: OwnFields | undefined, { deviceId, keepsWindow, ...content }: ImportedDevice): OwnFields {
    const wanted = before && this.#merge ? patchedContent(before, content) : content
    const after = fieldsOf(deviceId, wanted)
    return keepsWindow ? { ...after, window: before?.window ?? null } : after
  }

  /** Sorted by the number of devices, largest first. */
  overwritten(): NonNullable<ImportResult['overwritten']> {
    return [...this.#overwritten.values()].sort((a, b) => b.devices - a.devices).slice(0, maxFields)
  }

  /** Records which values a line overwrites. */
  #noteChanges(deviceId: string, stored: OwnFields, before: OwnFields, after: OwnFields): void {
    const known = new Set(changesOf(stored, before).map(({ field }) => field))
    for (const change of changesOf(stored, after)) {
      if (!known.has(change.field)) this.#note(deviceId, change)
    }
  }

  #note(deviceId: string, { field, before, after }: Change): void {
    const known = this.#overwritten.get(field)
    if (known) known.devices++
    else this.#overwritten.set(field, { field, devices: 1, example: { deviceId, before, after } })
  }

  /** Reads each window once. */
  async #requireWindow(windowName: string | null | undefined): Promise<void> {
    if (windowName === undefined || windowName === null) return
    const known = this.#windows.get(windowName) ?? requireWindow(this.#deps, this.#caller, windowName)
    this.#windows.set(windowName, known)
    await known
  }
}

type Change = { field: string; before: string; after: string | null }

/** Changes of existing values; added values overwrite nothing. */
function changesOf(before: OwnFields, after: OwnFields): Change[] {
  const [had, has] = [textsOf(before), textsOf(after)]
  return [...had].flatMap(([field, text]) =>
    has.get(field) === text ? [] : [{ field, before: text, after: has.get(field) ?? null }],
  )
}

function textsOf(device: OwnFields): Map<string, string> {
  const { attributes, ...fields } = contentOf(device)
  const texts = new Map<string, string>()
  for (const [field, value] of Object.entries(fields)) {
    const text = Array.isArray(value) ? value.join(', ') : value
    if (text) texts.set(field, text)
  }
  for (const [name, value] of Object.entries(attributes)) texts.set(`attributes.${name}`, String(value))
  return texts
}
