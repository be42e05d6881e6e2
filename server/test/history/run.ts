// npm run test:history -- --store=pg --seconds=60 --seed=1

import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import type { Fault } from './disturbed-service.ts'
import { fullScale, recordHistory } from './record-history.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'pg' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(randomInt(2 ** 20)) },
  },
})
const [seconds, seed] = [Number(values.seconds), Number(values.seed)]
const store = values.store
if (
  (store !== 'pg' && store !== 'sqlite') ||
  !(seconds > 0 && seconds <= 86_400) ||
  !Number.isSafeInteger(seed)
) {
  console.error('npm run test:history -- --store=pg|sqlite --seconds=<number> --seed=<number>')
  process.exit(2)
}
const command = `npm run test:history -- --store=${store} --seconds=${seconds} --seed=${seed}`
console.log(command)

// The programs that it has started end with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const cleanup: (() => unknown)[] = []
const t = { after: (end?: unknown) => void cleanup.push(end as () => unknown) }
const random = seededRandom(seed)
/** When everything had started. */
let begun: number | undefined
let isKilled = false
const nextFaults = (possible: Fault[]): Fault[] | undefined => {
  begun ??= performance.now()
  // One kill at least, however slow the machine is.
  if (performance.now() - begun > seconds * 1000) {
    if (isKilled) return undefined
    isKilled = true
    return ['kill']
  }
  const fault = random.pick(possible)
  isKilled ||= fault === 'kill'
  return store === 'pg' && fault !== 'pause' && random.chance(0.2) ? [fault, 'pause'] : [fault]
}

const onProgress = (what: string) => console.log(`${(performance.now() / 1000).toFixed(1)} s: ${what}`)

try {
  const { problems, figures } = await recordHistory(t, {
    store,
    seed,
    scale: fullScale,
    nextFaults,
    onProgress,
  })
  const shown = 50
  for (const problem of problems.slice(0, shown)) console.log(`problem: ${problem}`)
  if (problems.length > shown) console.log(`and ${problems.length - shown} more`)
  console.log(
    Object.entries(figures)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  )
  if (problems.length > 0) {
    console.log(`failed: ${command}`)
    process.exitCode = 1
  }
} finally {
  for (const end of cleanup) await end()
}
process.exit()
