// The CPU time of a trigger: of the service, and of the server processes of its database.

import { cpuMs } from '../devices/process-use.ts'
import type { Loader } from '../loader.ts'
import type { Target } from '../server-process.ts'

/** `databasePids`: connections that exist now. */
export type Service = Target & { pid: number; databasePids(): Promise<number[]> }

const warmUpMs = 1500

/** In microseconds. */
export async function wholeTrigger(
  service: Service,
  loader: Loader,
  callers: number,
  measureMs: number,
): Promise<number> {
  const { port, apiKey, pid } = service
  const work = { kind: 'trigger', devices: 1, manner: 'plain' } as const
  const run = (ms: number) => loader.run({ port, apiKey, work, callers, warmUpMs: 0, measureMs: ms })
  await run(warmUpMs)
  const pids = [pid, ...(await service.databasePids())]
  const sum = () => pids.reduce((total, each) => total + cpuMs(each), 0)
  const before = sum()
  const { callsPerSecond } = await run(measureMs)
  return ((sum() - before) * 1000) / ((callsPerSecond * measureMs) / 1000)
}
