// npm run simulate -- --seeds 10000        from a random seed on, in one process for each core
// npm run simulate -- --seed 42            this one alone, exactly as it was
// --processes 1                            in so many processes
// --cpu-seconds 4                          as many seeds as each of them does in that time
// --defect without-rechecks                with something wrong on purpose, which must be found

import { spawn } from 'node:child_process'
import { hash, randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { installVirtualTime } from './virtual-time.ts'
import { type Defect, defects } from './world.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(randomInt(2 ** 30)) },
    processes: { type: 'string', default: String(availableParallelism()) },
    'cpu-seconds': { type: 'string', default: 'Infinity' },
    defect: { type: 'string' },
  },
})
const [seeds, first, cpuSeconds] = [values.seeds, values.seed, values['cpu-seconds']].map(Number) as [
  number,
  number,
  number,
]
/** What is worth a process of its own. */
const fewest = 50
const processes = Math.max(1, Math.min(Number(values.processes), Math.floor(seeds / fewest)))
const defect = values.defect as Defect | undefined
const isKnown = defect === undefined || defects.includes(defect)
const areWhole = [seeds, first, processes].every((each) => Number.isSafeInteger(each) && each >= 0)
if (!areWhole || seeds === 0 || !(cpuSeconds > 0) || !isKnown) {
  console.error(`npm run simulate -- --seeds <number> --seed <number> [--defect ${defects.join('|')}]`)
  process.exit(2)
}
const ofDefect = defect === undefined ? [] : ['--defect', defect]

await (processes === 1 ? simulateAll() : simulateInParts())
process.exit()

async function simulateAll(): Promise<void> {
  const begun = process.hrtime.bigint()
  installVirtualTime()
  // Loaded afterwards: from now on there are no other timers.
  const { simulate } = await import('./simulate.ts')
  const totals = { seeds: 0, executions: 0, events: 0, kills: 0 }
  const digests: string[] = []
  // The first one also if the start alone has taken that time.
  const hasTime = () => digests.length === 0 || cpuUsed() < cpuSeconds
  for (let seed = first; seed < first + seeds && hasTime(); seed++) {
    const { problems, executions, events, kills, digest } = await simulate(seed, defect)
    digests.push(digest)
    totals.seeds++
    totals.executions += executions
    totals.events += events
    totals.kills += kills
    if (problems.length === 0) continue
    for (const problem of problems.slice(0, 10)) console.log(`problem: ${problem.slice(0, 500)}`)
    console.log(`failed: ${['npm run simulate -- --seed', seed, ...ofDefect].join(' ')}`)
    process.exitCode = 1
    break
  }
  // What came before must not matter: the first one happens again as it did.
  if (process.exitCode === undefined && (await simulate(first, defect)).digest !== digests[0]) {
    console.log(`problem: seed ${first} is not the same when it is simulated again`)
    process.exitCode = 1
  }
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9
  const counts = Object.entries(totals).map(([name, count]) => `${name} ${count}`)
  const digest = hash('sha256', digests.join()).slice(0, 16)
  console.log(`${counts.join(', ')}, first seed ${first}, digest ${digest}, ${seconds.toFixed(1)} s`)
}

function cpuUsed(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** A part of the seeds each; what one of them finds does not stop the others. */
async function simulateInParts(): Promise<void> {
  const part = Math.ceil(seeds / processes)
  const starts = Array.from({ length: processes }, (_, index) => first + index * part)
  const codes = await Promise.all(
    starts.map((start) => {
      const count = Math.min(part, first + seeds - start)
      const args = ['--seed', start, '--seeds', count, '--cpu-seconds', cpuSeconds, '--processes', 1]
      const child = spawn(process.execPath, [import.meta.filename, ...args.map(String), ...ofDefect], {
        stdio: 'inherit',
      })
      return new Promise<number | null>((resolve) => child.once('close', resolve))
    }),
  )
  if (codes.some((code) => code !== 0)) process.exitCode = 1
}
