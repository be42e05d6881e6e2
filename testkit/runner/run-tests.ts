// `npm test`: types, lint and the tests. Words after it select the test files whose path contains one of them, without the
// checks (with them: --checks): npm test -- devices rollouts
// --times lists the CPU time of each file, most first; --alone gives each file its own process; --chaos runs the same as
// `npm run test:chaos`; --report writes the failures to a file, as JSON.

import { randomInt } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compileCache } from '../src/compile-cache.ts'
import { runChecks } from './checks.ts'
import { describeEnd, describeFailures, describeTimes } from './describe-outcome.ts'
import { machineCpuSeconds } from './machine-cpu.ts'
import { type Group, isExclusive, planGroups } from './plan.ts'
import { type Outcome, runGroup } from './run-group.ts'
import { makeFolderInMemory } from './test-folder.ts'

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
    chaos: { type: 'boolean', default: false },
    checks: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
})
const root = join(import.meta.dirname, '../..')
const size = options.chaos ? 'chaos' : 'test'
/**
 * On two cores, four of six processes mostly wait: for the start of a process, a clock, the disk. With eight it takes longer. At full
 * size, tests start many devices and kill servers, and wait less.
 */
const sharedAtOnce = options.chaos ? 4 : 6

const startedAt = performance.now()
const cpuAtStart = machineCpuSeconds()
const groups = planGroups(root, size, words, { isAlone: options.alone })
if (groups.length === 0) {
  console.error(`No test file has ${words.map((word) => `"${word}"`).join(' or ')} in its path.`)
  process.exit(1)
}
process.env.JOBCAST_TEST_SEED ||= String(randomInt(2 ** 31))
if (options.chaos) process.env.JOBCAST_TEST_SIZE ||= 'chaos'
// Test processes are in their own process groups, so Ctrl-C does not reach them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const inMemory = makeFolderInMemory()
if (inMemory !== undefined) {
  process.env.TMPDIR = inMemory
  process.once('exit', () => rmSync(inMemory, { recursive: true, force: true }))
}

const outcomes: Outcome[] = []
const files = groups.reduce((sum, group) => sum + group.files.length, 0)
console.log(`${files} test files, JOBCAST_TEST_SEED=${process.env.JOBCAST_TEST_SEED}`)
const isWhole = words.length === 0 && !options.chaos
const checks = isWhole || options.checks ? runChecks(root, ended) : undefined
// Not a static import: the service must be loaded with the cache enabled. With an empty cache, each of the first processes
// would compile the whole service for itself.
enableCompileCache(compileCache)
const { globalSetup, globalTeardown } = await import('../src/global-setup.ts')
await globalSetup()
flushCompileCache()
await runAll(
  groups.filter((group) => !isExclusive(group)),
  sharedAtOnce,
)
await checks
await runAll(groups.filter(isExclusive), 1)
await globalTeardown()
report()

async function runAll(waiting: Group[], atOnce: number): Promise<void> {
  const work = async () => {
    for (let group = waiting.shift(); group; group = waiting.shift()) await runGroup(group, root, ended)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

function ended(outcome: Outcome): void {
  outcomes.push(outcome)
  console.log(describeEnd(outcome))
}

/** The counts come last, so that the end of a long log shows what failed and how much ran. */
function report(): void {
  if (options.times) console.log(describeTimes(outcomes))
  const failed = sum(({ failures }) => failures.length)
  if (failed > 0) {
    console.log(`\n${describeFailures(outcomes, options.chaos ? 'npm run test:chaos' : 'npm test')}`)
  }
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = machineCpuSeconds()
  const cpuText =
    cpu === undefined || cpuAtStart === undefined
      ? ''
      : `, ${(cpu - cpuAtStart).toFixed(0)} CPU s of the whole machine`
  if (options.report) {
    const failures = outcomes.flatMap(({ file, group, failures }) =>
      failures.map(({ title }) => `${file}${group.suffix} > ${title}`),
    )
    writeFileSync(options.report, JSON.stringify({ seconds, failures }))
  }
  console.log(`${outcomes.length} files in ${seconds.toFixed(0)} s${cpuText}`)
  console.log(
    `${sum(({ passed }) => passed)} passed, ${failed} failed, ${sum(({ skipped }) => skipped.length)} skipped`,
  )
  process.exitCode = failed === 0 ? 0 : 1
}

function sum(count: (outcome: Outcome) => number): number {
  return outcomes.reduce((total, outcome) => total + count(outcome), 0)
}
