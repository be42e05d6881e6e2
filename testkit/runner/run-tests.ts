// `npm test`, behind the checks of types and style. Paths as arguments run only what is below them:
// node testkit/runner/run-tests.ts server/test/http
// --times says how many CPU seconds each group has used, most first; with --alone each file is a group.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../src/global-setup.ts'
import { findGroups, type Group, isExclusive } from './groups.ts'
import { type Outcome, runGroup } from './run-group.ts'
import { makeFolderInMemory } from './test-folder.ts'

const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'boolean', default: false }, alone: { type: 'boolean', default: false } },
})
const root = join(import.meta.dirname, '../..')
/** On two cores four of six wait most of the time: for a process to start, for a clock, for the disk. With eight it takes longer. */
const sharedAtOnce = 6

async function runAll(groups: Group[], atOnce: number): Promise<Outcome[]> {
  const waiting = [...groups]
  const outcomes: Outcome[] = []
  const work = async () => {
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      const outcome = await runGroup(group, root, { isMeasured: options.times })
      outcomes.push(outcome)
      console.log(describe(outcome))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return outcomes
}

function describe({ group, isGood, seconds, passed, failed, skipped, output }: Outcome): string {
  const counts = [`${passed} passed`, failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`]
  const line = `${isGood ? '✔' : '✖'} ${group.name}: ${counts.filter(Boolean).join(', ')} (${seconds.toFixed(1)} s)`
  if (!isGood) return `${line}\n${output}`
  return skipped > 0 ? `${line}\n${skippedLines(output)}` : line
}

/** Once for each reason. */
function skippedLines(output: string): string {
  const reasons = [...output.matchAll(/^.*# (.+)$/gm)].map(([, reason]) => `  skipped: ${reason}`)
  return [...new Set(reasons)].join('\n')
}

function describeTimes(outcomes: Outcome[]): string {
  const byUse = outcomes.toSorted((a, b) => (b.cpuSeconds ?? 0) - (a.cpuSeconds ?? 0))
  const total = byUse.reduce((sum, { cpuSeconds = 0 }) => sum + cpuSeconds, 0)
  const lines = byUse.map(
    ({ group, cpuSeconds = 0, seconds }) =>
      `${cpuSeconds.toFixed(1).padStart(7)} CPU s ${seconds.toFixed(1).padStart(7)} s  ${group.name}`,
  )
  return [...lines, `${total.toFixed(0)} CPU s`].join('\n')
}

const sum = (outcomes: Outcome[], what: 'passed' | 'failed' | 'skipped') =>
  outcomes.reduce((total, outcome) => total + outcome[what], 0)

const startedAt = performance.now()
const groups = findGroups(root, paths, { isAlone: options.alone })
if (groups.length === 0) {
  console.error('No test files match.')
  process.exit(1)
}
// By Ctrl-C: what runs is in process groups of its own, and hears nothing of it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const inMemory = makeFolderInMemory()
if (inMemory !== undefined) {
  process.env.TMPDIR = inMemory
  process.once('exit', () => rmSync(inMemory, { recursive: true, force: true }))
}
await globalSetup()
const outcomes = [
  ...(await runAll(
    groups.filter((group) => !isExclusive(group)),
    sharedAtOnce,
  )),
  ...(await runAll(groups.filter(isExclusive), 1)),
]
await globalTeardown()
if (options.times) console.log(describeTimes(outcomes))
const failing = outcomes.filter(({ isGood }) => !isGood)
for (const { group } of failing) console.log(`failed: ${group.name}`)
console.log(`${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
console.log(
  `${sum(outcomes, 'passed')} passed, ${sum(outcomes, 'failed')} failed, ${sum(outcomes, 'skipped')} skipped`,
)
process.exitCode = failing.length === 0 ? 0 : 1
