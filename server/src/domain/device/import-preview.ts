// What an import would do: which devices it would create, and which values of existing ones it would overwrite.

import type { DeviceContent, ImportResult, Overwritten } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { requireWindow } from '../window/window.ts'
import { ownAttributes } from './attributes.ts'
import type { DeviceDeps } from './device.ts'
import { deviceTag, ownFields } from './device-tag.ts'
import { patchedContent } from './patch-device.ts'
import type { OwnFields } from './ports/devices.ts'

/** `keepsWindow`: of a format that has no windows. */
export type ImportedDevice = { deviceId: string; keepsWindow?: true } & DeviceContent
export type ImportOutcome = 'created' | 'updated' | 'unchanged'

type Own = Required<OwnFields>

const maxFields = 100

export class ImportPreview {
  readonly #deps: DeviceDeps
  readonly #caller: Caller
  readonly #merge: boolean
  /** Of each device what a later line builds on: its first line, and what the last one leaves if it has several. */
  readonly #first = new Map<string, string>()
  readonly #last = new Map<string, string>()
  /** Lines of one device come at once as well. */
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
    // As texts: there may be 64 MiB of lines, and objects take several times as much.
    if (this.#first.has(deviceId)) this.#last.set(deviceId, JSON.stringify(after))
    else this.#first.set(deviceId, JSON.stringify(line))
    if (before === undefined) return 'created'
    if (deviceTag(before) === deviceTag(after)) return 'unchanged'
    if (stored) this.#noteChanges(deviceId, stored, before, after)
    return 'updated'
  }

  #before(deviceId: string, stored: Own | undefined): Own | undefined {
    const last = this.#last.get(deviceId)
    if (last !== undefined) return JSON.parse(last)
    const first = this.#first.get(deviceId)
    return first === undefined ? stored : this.#after(stored, JSON.parse(first))
  }

  #after(before: Own | undefined, { deviceId, keepsWindow, ...content }: ImportedDevice): Own {
    const wanted = before && this.#merge ? patchedContent(before, content) : content
    const after = fieldsOf(deviceId, wanted)
    return keepsWindow ? { ...after, window: before?.window ?? null } : after
  }

  /** What concerns most devices first. */
  overwritten(): NonNullable<ImportResult['overwritten']> {
    return [...this.#overwritten.values()].sort((a, b) => b.devices - a.devices).slice(0, maxFields)
  }

  /** What an earlier line overwrites is noted. */
  #noteChanges(deviceId: string, stored: Own, before: Own, after: Own): void {
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

  /** Read once, however many lines name it. */
  async #requireWindow(windowName: string | null | undefined): Promise<void> {
    if (windowName === undefined || windowName === null) return
    const known = this.#windows.get(windowName) ?? requireWindow(this.#deps, this.#caller, windowName)
    this.#windows.set(windowName, known)
    await known
  }
}

function fieldsOf(deviceId: string, content: DeviceContent): Own {
  const { deviceName = deviceId, tags = [], window = null } = content
  return ownFields({ deviceName, tags: tags.toSorted(), attributes: ownAttributes(content), window })
}

type Change = { field: string; before: string; after: string | null }

/** Of what a device has; what it did not have before is not overwritten. */
function changesOf(before: Own, after: Own): Change[] {
  const [had, has] = [textsOf(before), textsOf(after)]
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
