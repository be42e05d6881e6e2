// npm run simulate -- --seeds 10000        from a random seed on
// npm run simulate -- --seed 42            this one alone, exactly as it was
// --cpu-seconds 4                          as many seeds as are done in that time
// --defect without-rechecks                with something wrong on purpose, which must be found

import { hash, randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { installVirtualTime } from './virtual-time.ts'
import { type Defect, defects } from './world.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(randomInt(2 ** 30)) },
    defect: { type: 'string' },
    'cpu-seconds': { type: 'string', default: 'Infinity' },
  },
})
const [seeds, first] = [Number(values.seeds), Number(values.seed)]
const defect = values.defect as Defect | undefined
const isKnown = defect === undefined || defects.includes(defect)
if (!(Number.isSafeInteger(seeds) && seeds > 0) || !(Number.isSafeInteger(first) && first >= 0) || !isKnown) {
  console.error(`npm run simulate -- --seeds <number> --seed <number> [--defect ${defects.join('|')}]`)
  process.exit(2)
}

const begun = process.hrtime.bigint()
installVirtualTime()
// Loaded afterwards: from now on there are no other timers.
const { simulate } = await import('./simulate.ts')
const cpuSeconds = Number(values['cpu-seconds'])
const digests: string[] = []
const totals = { seeds: 0, executions: 0, events: 0, kills: 0 }
for (let seed = first; seed < first + seeds && cpuUsed() < cpuSeconds; seed++) {
  const { problems, executions, events, kills, digest } = await simulate(seed, defect)
  digests.push(digest)
  totals.seeds++
  totals.executions += executions
  totals.events += events
  totals.kills += kills
  if (problems.length === 0) continue
  for (const problem of problems.slice(0, 10)) console.log(`problem: ${problem.slice(0, 500)}`)
  console.log(`failed: npm run simulate -- --seed ${seed}${defect ? ` --defect ${defect}` : ''}`)
  process.exitCode = 1
  break
}
function cpuUsed(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

// What came before must not matter: the first one happens again as it did.
if (process.exitCode === undefined && (await simulate(first, defect)).digest !== digests[0]) {
  console.log(`problem: seed ${first} is not the same when it is simulated again`)
  process.exitCode = 1
}
const seconds = Number(process.hrtime.bigint() - begun) / 1e9
const counts = Object.entries(totals).map(([name, count]) => `${name} ${count}`)
console.log(
  `${counts.join(', ')}, first seed ${first}, digest ${hash('sha256', digests.join()).slice(0, 16)}, ${seconds.toFixed(1)} s`,
)
process.exit()
