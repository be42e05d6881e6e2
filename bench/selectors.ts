// Measures what selectors cost among many registered devices: counts, pages of lists, and the selection of a run. Arguments:
// `sqlite` or `postgres` for only one of the stores, a number of devices, `--rounds`. Linux only.

import { parseArgs } from 'node:util'
import { parseSelector } from '@jobcast/contract/selector'
import { median } from './numbers.ts'
import { openRegistered, ownerNo, type RegisteredStore } from './registered.ts'
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

type Work = (store: RegisteredStore['store']) => Promise<number>

const count =
  (text: string): Work =>
  async (store) =>
    (await store.countDevices({ ownerNo, where: parseSelector(text) })).total

const page =
  (text: string): Work =>
  async (store) => {
    const slice = { after: undefined, limit: 100 }
    return (await store.listDevices({ ownerNo, filter: { where: parseSelector(text) }, slice })).items.length
  }

const works: [title: string, most: number, work: Work][] = [
  ['count, tag=kiosk and fw<2.4.0', 2000, count('tag=kiosk and fw<2.4.0')],
  ['count, fw<2.4.0 and slot<500', 2000, count('fw<2.4.0 and slot<500')],
  ['count, tag=kiosk and not online', 2000, count('tag=kiosk and not online')],
  ['count, fw!=2.4.1 and site!=site-7', 2000, count('fw!=2.4.1 and site!=site-7')],
  ['count, reported.fw<2.4.0 and slot<500', 2000, count('reported.fw<2.4.0 and slot<500')],
  ['count, all', 2000, count('all')],
  ['count, tag=canary and fw<2.4.0', 50, count('tag=canary and fw<2.4.0')],
  ['count, slot=7 and fw<2.4.0', 50, count('slot=7 and fw<2.4.0')],
  ['count, deviceId=device-0000007 and tag=gate', 50, count('deviceId=device-0000007 and tag=gate')],
  ['page, tag=kiosk and fw<2.4.0', 100, page('tag=kiosk and fw<2.4.0')],
  ['page, tag=canary and fw<2.4.0', 100, page('tag=canary and fw<2.4.0')],
  ['page, fw!=2.4.1 and site=site-7', 100, page('fw!=2.4.1 and site=site-7')],
]

async function measure({ store, cpu }: RegisteredStore, work: Work) {
  const ms: number[] = []
  const cpus: number[] = []
  let found = 0
  // The first round is a warm-up: pages of the database are read.
  for (let round = 0; round <= rounds; round++) {
    const [begun, used] = [performance.now(), cpu()]
    found = await work(store)
    if (round === 0) continue
    ms.push(performance.now() - begun)
    cpus.push(cpu() - used)
  }
  return { found, ms, cpus }
}

const spread = (all: number[]) => `${formatMs(Math.min(...all))}–${formatMs(Math.max(...all))}`

for (const name of stores) {
  const registered = await openRegistered(devices, name === 'postgres')
  try {
    const rows: string[][] = []
    for (const [title, most, work] of works) {
      const { found, ms, cpus } = await measure(registered, work)
      const figures = [formatMs(median(ms)), spread(ms), formatMs(median(cpus)), String(most)]
      rows.push([title, found.toLocaleString('en-US'), ...figures])
    }
    const head = ['', 'found', 'ms', 'from–to', 'CPU ms', 'at most']
    console.log(`${name}, ${devices.toLocaleString('en-US')} devices\n\n${formatTable(head, rows)}\n`)
  } finally {
    await registered.close()
  }
}
