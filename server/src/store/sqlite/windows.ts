// Executions that must not be offered right now because of a window: those of runs whose window is closed in the zone of the
// device, unless they have begun. Most services have none.

import type { ExecState } from '@jobcast/contract/words'
import { isTerminal } from '../../domain/execution/execution.ts'
import { anyTime } from '../../domain/window/any-time.ts'
import { isOpenIn } from '../../domain/window/open-zones.ts'
import type { WindowKey } from '../../domain/window/ports/windows.ts'
import { addRange, type RunRange, rangeOf } from './run-ranges.ts'

/** `windowName`: `anyTime` if it ignores windows. `unfinished`: the number of unfinished executions. */
export type WindowedRun = RunRange & { ownerNo: number; windowName: string; unfinished: number }
type Window = { version: number; openZones: string; isLeaving: boolean }
type Run = WindowedRun & { begun: Set<number> }
/** A device with the windows that apply to it, and its executions in progress. */
type WindowedDevice = { ownerNo: number; windows: readonly string[]; begun: ReadonlySet<number> }

/** Executions that must not be offered. */
export type HeldBack = { readonly isEmpty: boolean; has(jobExecutionId: number): boolean }

export class Windows {
  readonly #runs: Run[] = []
  readonly #windows = new Map<string, Window>()
  readonly #changes = new Map<number, number>()

  get isEmpty(): boolean {
    return this.#runs.length === 0
  }

  /** Without a version, the next one is assumed, as on disk. */
  put({ ownerNo, windowName }: WindowKey, openZones: string, version?: number): void {
    const before = this.#windows.get(keyOf(ownerNo, windowName))
    const window = { openZones, version: version ?? (before?.version ?? 0) + 1, isLeaving: false }
    this.#windows.set(keyOf(ownerNo, windowName), window)
    this.#noteChange(ownerNo)
  }

  /** Applies only to the version that was judged. */
  setOpen({ ownerNo, windowName, version, openZones }: WindowKey & Omit<Window, 'isLeaving'>): void {
    const window = this.#windows.get(keyOf(ownerNo, windowName))
    if (window?.version !== version) return
    window.openZones = openZones
    this.#noteChange(ownerNo)
  }

  /** New runs cannot use a window while it is being deleted. */
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

  /** The number of openings, closings and changes of the owner's windows. */
  changesOf(ownerNo: number): number {
    return this.#changes.get(ownerNo) ?? 0
  }

  add(run: WindowedRun, begun: Iterable<number> = []): void {
    addRange(this.#runs, { ...run, begun: new Set(begun) })
  }

  drop(runId: number): void {
    const at = this.#runs.findIndex((run) => run.runId === runId)
    if (at >= 0) this.#runs.splice(at, 1)
  }

  /** Records a state change of an execution. */
  follow(jobExecutionId: number, execState: ExecState): void {
    const run = rangeOf(this.#runs, jobExecutionId)
    if (run === undefined) return
    if (execState === 'PENDING' || isTerminal(execState)) run.begun.delete(jobExecutionId)
    else run.begun.add(jobExecutionId)
    if (isTerminal(execState) && --run.unfinished === 0) this.drop(run.runId)
  }

  isUnder(jobExecutionId: number): boolean {
    return rangeOf(this.#runs, jobExecutionId) !== undefined
  }

  /** The execution must not be offered to a device in this zone. A deleted window is closed in all zones. */
  isClosed(jobExecutionId: number, zone: string): boolean {
    const run = rangeOf(this.#runs, jobExecutionId)
    if (run === undefined || run.windowName === anyTime || run.begun.has(jobExecutionId)) return false
    return !this.#isOpen(run.ownerNo, run.windowName, zone)
  }

  /** The same for the windows of a device. */
  isClosedFor(device: WindowedDevice | undefined, zone: string): (jobExecutionId: number) => boolean {
    if (device === undefined) return () => false
    const { ownerNo, windows, begun } = device
    if (windows.every((windowName) => this.#isOpen(ownerNo, windowName, zone))) return () => false
    return (id) => !begun.has(id) && rangeOf(this.#runs, id)?.windowName !== anyTime
  }

  /** A deleted window is not open anywhere. */
  #isOpen(ownerNo: number, windowName: string, zone: string): boolean {
    const window = this.#windows.get(keyOf(ownerNo, windowName))
    return window !== undefined && isOpenIn(window.openZones, zone)
  }

  #noteChange(ownerNo: number): void {
    this.#changes.set(ownerNo, this.changesOf(ownerNo) + 1)
  }
}

function keyOf(ownerNo: number, windowName: string): string {
  return `${ownerNo} ${windowName}`
}
