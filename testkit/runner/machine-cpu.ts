// CPU seconds that the whole machine has used: tests start browsers, databases and programs in processes that soon stop
// being their children, so counting processes would miss some.

import { readFileSync } from 'node:fs'

const ticksPerSecond = 100

/** Undefined if the system does not report it. */
export function machineCpuSeconds(): number | undefined {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
    const ticks = line.split(/\s+/).slice(1).map(Number)
    const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = ticks
    return (user + nice + system + irq + softIrq) / ticksPerSecond
  } catch {
    return undefined
  }
}
