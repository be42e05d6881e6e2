// The windows of devices that have any, their own and those of their groups. Most services have none.

import type { ExecState } from '@jobcast/contract/words'
import { isTerminal } from '../../domain/execution/execution.ts'

/** `begun`: executions in progress, which windows do not affect. */
type Entry = { ownerNo: number; windows: readonly string[]; begun: Set<number> }

export class DeviceWindows {
  readonly #devices = new Map<number, Entry>()
  /** Devices of a group share one list. */
  readonly #lists = new Map<string, readonly string[]>()

  get isEmpty(): boolean {
    return this.#devices.size === 0
  }

  set(deviceNo: number, ownerNo: number, windows: readonly string[], begun: Iterable<number>): void {
    if (windows.length === 0) this.#devices.delete(deviceNo)
    else this.#devices.set(deviceNo, { ownerNo, windows: this.#shared(windows), begun: new Set(begun) })
    if (this.isEmpty) this.#lists.clear()
  }

  of(deviceNo: number): Readonly<Entry> | undefined {
    return this.isEmpty ? undefined : this.#devices.get(deviceNo)
  }

  /** Records a state change of an execution of the device. */
  follow(deviceNo: number, jobExecutionId: number, execState: ExecState): void {
    const begun = this.#devices.get(deviceNo)?.begun
    if (execState === 'PENDING' || isTerminal(execState)) begun?.delete(jobExecutionId)
    else begun?.add(jobExecutionId)
  }

  #shared(windows: readonly string[]): readonly string[] {
    const key = windows.join(' ')
    const known = this.#lists.get(key)
    if (known === undefined) this.#lists.set(key, windows)
    return known ?? windows
  }
}
