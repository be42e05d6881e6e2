// Measures how long the service is down after SIGKILL under load, with many stored executions.

import { setTimeout as sleep } from 'node:timers/promises'
import { startJobcast, timeStart } from './jobcast.ts'
import { openLoader } from './loader.ts'
import { median } from './numbers.ts'
import { removeFolder } from './processes.ts'
import { copyStored, type Stored } from './stored.ts'

const loadMs = 1000

export async function measureRestart(stored: Stored, rounds: number): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(await killAndRestart(stored))
  return median(times)
}

async function killAndRestart(stored: Stored): Promise<number> {
  const folder = copyStored(stored)
  const jobcast = await startJobcast(folder)
  const loader = openLoader()
  const order = { ...jobcast, callers: 64, warmUpMs: 0, measureMs: 60_000 }
  const load = loader.run({ ...order, work: { kind: 'trigger', devices: 1 } })
  load.catch(() => undefined) // the callers lose their connections, as intended
  await sleep(loadMs)
  await jobcast.end('SIGKILL')
  await loader.end()
  const ms = await timeStart(folder, jobcast.port)
  removeFolder(folder)
  return ms
}
