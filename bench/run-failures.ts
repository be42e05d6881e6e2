// Measures what it costs to list the failures of a large run: half of it has failed, half succeeded. Arguments: `sqlite` or
// `postgres` for only one of the stores, a number of devices. Linux only.

import { parseArgs } from 'node:util'
import { parseSelector } from '@jobcast/contract/selector'
import { readFailures } from '../server/src/domain/trigger/read-failures.ts'
import { median } from './numbers.ts'
import { momentAt, nameOf, openRegistered, ownerNo, type RegisteredStore } from './registered.ts'
import { formatMs, formatTable } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
})
const rounds = Number(values.rounds)
const devices = Number(positionals.find((word) => /^\d+$/.test(word)) ?? 1_000_000)
const stores = ['sqlite', 'postgres'].filter(
  (name) => !positionals.some((word) => /^[a-z]/.test(word)) || positionals.includes(name),
)
const pageSize = 10_000
const trigger = {
  ownerNo,
  jobName: 'update',
  launchedAt: 1,
  clock: momentAt(1).clock,
  keyId: 'k1',
  retryOf: null,
  idempotency: null,
}

async function launchOnAll(store: RegisteredStore['store']): Promise<number> {
  const deviceNos: number[] = []
  for (let after: string | undefined; ; ) {
    const found = await store.selectDevices({
      ownerNo,
      where: parseSelector('all'),
      slice: { after, limit: pageSize },
    })
    for (const { deviceNo } of found.items) deviceNos.push(deviceNo)
    if (found.next === undefined) break
    after = found.next
  }
  const outcome = await store.createLargeRun({ ...trigger, deviceNos: Int32Array.from(deviceNos) })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  return outcome.run.runId
}

/** Each batch has another reason. */
async function endAll(store: RegisteredStore['store'], runId: number): Promise<void> {
  let ended = 0
  for (let from: number | undefined, batch = 0; ; batch++) {
    const event = ended < devices / 2 ? 'fail' : 'succeed'
    const move = { ownerNo, runId, from, event, moment: momentAt(2), actor: 'device' } as const
    const moved = await store.moveRun({ ...move, ...(event === 'fail' && { reason: `error ${batch}` }) })
    ended += moved?.moved.length ?? 0
    from = moved?.next
    if (from === undefined) return
  }
}

/** Includes how long callers wait meanwhile that create a run on one device. */
async function measure({ store, cpu }: RegisteredStore, runId: number) {
  const [ms, cpus, waits]: number[][] = [[], [], []]
  let text = ''
  for (let round = 0; round <= rounds; round++) {
    let isRead = false
    const others = (async () => {
      for (let index = 0; !isRead; index++) {
        const begun = performance.now()
        await store.createExecutions([{ ...trigger, deviceIds: [nameOf(index % devices)] }])
        waits?.push(performance.now() - begun)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })()
    const [begun, used] = [performance.now(), cpu()]
    const { total, reasons, shared } = await readFailures({ store }, { ownerNo } as never, runId)
    if (round > 0) {
      ms?.push(performance.now() - begun)
      cpus?.push(cpu() - used)
    }
    isRead = true
    await others
    text = `${total} failures, ${reasons.length} reasons, ${shared.length} shared values`
  }
  return { ms: ms ?? [], cpus: cpus ?? [], waits: waits ?? [], text }
}

const rows: string[][] = []
for (const name of stores) {
  const registered = await openRegistered(devices, name === 'postgres')
  try {
    const runId = await launchOnAll(registered.store)
    await endAll(registered.store, runId)
    const { ms, cpus, waits, text } = await measure(registered, runId)
    const spread = `${formatMs(Math.min(...ms))}–${formatMs(Math.max(...ms))}`
    const sorted = waits.toSorted((one, other) => one - other)
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0
    rows.push([name, text, formatMs(median(ms)), spread, formatMs(median(cpus)), formatMs(p99)])
  } finally {
    await registered.close()
  }
}
const head = ['', 'found', 'ms', 'from–to', 'CPU ms', 'triggers meanwhile, p99 ms']
console.log(`${devices.toLocaleString('en-US')} devices\n\n${formatTable(head, rows)}\n`)
