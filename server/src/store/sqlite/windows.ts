// Which executions may not be offered to a device right now because of a window: those of runs under one that is closed in
// the zone of the device, unless they have begun. Most services have none.

import type { ExecState } from '@jobcast/contract/words'
import { isTerminal } from '../../domain/execution/execution.ts'
import { anyTime } from '../../domain/window/any-time.ts'
import { isOpenIn } from '../../domain/window/open-zones.ts'
import type { WindowKey } from '../../domain/window/ports/windows.ts'

/** `windowName`: `anyTime` if it ignores windows. `to`: not included. `unfinished`: how many of its executions have not ended. */
export type WindowedRun = {
  ownerNo: number
  runId: number
  from: number
  to: number
  windowName: string
  unfinished: number
}
type Window = { version: number; openZones: string; isLeaving: boolean }
type Run = WindowedRun & { begun: Set<number> }
/** The windows that apply to it, and what is under way on it. */
type WindowedDevice = { ownerNo: number; windows: readonly string[]; begun: ReadonlySet<number> }

/** What may not be offered. */
export type Withheld = { readonly isEmpty: boolean; has(jobExecutionId: number): boolean }

export class Windows {
  /** By their ids; runs do not overlap. */
  readonly #runs: Run[] = []
  readonly #windows = new Map<string, Window>()
  readonly #changes = new Map<number, number>()

  get isEmpty(): boolean {
    return this.#runs.length === 0
  }

  /** Its version is counted as on disk. */
  put({ ownerNo, windowName }: WindowKey, openZones: string, version?: number): void {
    const before = this.#windows.get(keyOf(ownerNo, windowName))
    const window = { openZones, version: version ?? (before?.version ?? 0) + 1, isLeaving: false }
    this.#windows.set(keyOf(ownerNo, windowName), window)
    this.#noteChange(ownerNo)
  }

  /** Only if it is still the one that was judged. */
  setOpen({ ownerNo, windowName, version, openZones }: WindowKey & Omit<Window, 'isLeaving'>): void {
    const window = this.#windows.get(keyOf(ownerNo, windowName))
    if (window?.version !== version) return
    window.openZones = openZones
    this.#noteChange(ownerNo)
  }

  /** No run begins to use it while it is being deleted. */
  setLeaving({ ownerNo, windowName }: WindowKey, isLeaving: boolean): void {
    const window = this.#windows.get(keyOf(ownerNo, windowName))
    if (window) window.isLeaving = isLeaving
  }

  delete({ ownerNo, windowName }: WindowKey): void {
    this.#windows.delete(keyOf(ownerNo, windowName))
  }

  has(ownerNo: number, windowName: string): boolean {
    return this.#windows.get(keyOf(ownerNo, windowName))?.isLeaving === false
  }

  /** How often windows of this owner have opened, closed or changed. */
  changesOf(ownerNo: number): number {
    return this.#changes.get(ownerNo) ?? 0
  }

  add(run: WindowedRun, begun: Iterable<number> = []): void {
    this.#runs.splice(this.#positionOf(run.from), 0, { ...run, begun: new Set(begun) })
  }

  drop(runId: number): void {
    const at = this.#runs.findIndex((run) => run.runId === runId)
    if (at >= 0) this.#runs.splice(at, 1)
  }

  /** An execution has moved. */
  follow(jobExecutionId: number, execState: ExecState): void {
    const run = this.#find(jobExecutionId)
    if (run === undefined) return
    if (execState === 'PENDING' || isTerminal(execState)) run.begun.delete(jobExecutionId)
    else run.begun.add(jobExecutionId)
    if (isTerminal(execState) && --run.unfinished === 0) this.drop(run.runId)
  }

  isUnder(jobExecutionId: number): boolean {
    return this.#find(jobExecutionId) !== undefined
  }

  /** It may not be offered to a device in this zone; nor one whose window is gone, whichever zone that is. */
  isClosed(jobExecutionId: number, zone: string): boolean {
    const run = this.#find(jobExecutionId)
    if (run === undefined || run.windowName === anyTime || run.begun.has(jobExecutionId)) return false
    return !this.#isOpen(run.ownerNo, run.windowName, zone)
  }

  /** The same by the windows of a device. */
  isClosedFor(device: WindowedDevice | undefined, zone: string): (jobExecutionId: number) => boolean {
    if (device === undefined) return () => false
    const { ownerNo, windows, begun } = device
    if (windows.every((windowName) => this.#isOpen(ownerNo, windowName, zone))) return () => false
    return (id) => !begun.has(id) && this.#find(id)?.windowName !== anyTime
  }

  /** One that is gone is open nowhere. */
  #isOpen(ownerNo: number, windowName: string, zone: string): boolean {
    const window = this.#windows.get(keyOf(ownerNo, windowName))
    return window !== undefined && isOpenIn(window.openZones, zone)
  }

  #noteChange(ownerNo: number): void {
    this.#changes.set(ownerNo, this.changesOf(ownerNo) + 1)
  }

  #find(jobExecutionId: number): Run | undefined {
    const run = this.#runs[this.#positionOf(jobExecutionId + 1) - 1]
    return run !== undefined && jobExecutionId < run.to ? run : undefined
  }

  /** How many runs begin below the id. */
  #positionOf(id: number): number {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#runs[middle] as Run).from < id) low = middle + 1
      else high = middle
    }
    return low
  }
}

function keyOf(ownerNo: number, windowName: string): string {
  return `${ownerNo} ${windowName}`
}
