// `npm run test:again -- 10`: runs `npm test` ten times, each time with another seed, while other processes keep all cores
// busy. Prints the failures of each round: a test that fails here once will fail for others sometimes.
// Words after the number run only the files whose path contains one.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

type Round = { seed: number; seconds: number; load: number; failures: string[] }

const [count = '10', ...words] = process.argv.slice(2)
const rounds = Number(count)
if (!Number.isSafeInteger(rounds) || rounds < 1) {
  console.error(`"${count}" is not a number of rounds. Example: npm run test:again -- 10`)
  process.exit(1)
}
const runner = join(import.meta.dirname, 'run-tests.ts')
const folder = mkdtempSync(join(tmpdir(), 'jobcast-test-again-'))
const load = Array.from({ length: availableParallelism() }, startBusyProcess)
process.once('exit', () => {
  for (const child of load) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const done: Round[] = []
for (let round = 1; round <= rounds; round++) {
  console.log(`\nround ${round} of ${rounds}`)
  done.push(await run())
  console.log(describe(done))
}
process.exit(done.some(({ failures }) => failures.length > 0) ? 1 : 0)

function startBusyProcess(): ChildProcess {
  return spawn(process.execPath, ['--eval', 'for (;;) Math.random()'], { stdio: 'ignore' })
}

async function run(): Promise<Round> {
  const seed = randomInt(2 ** 31)
  const report = join(folder, 'report.json')
  const child = spawn(process.execPath, [runner, '--report', report, ...words], {
    stdio: 'inherit',
    env: { ...process.env, JOBCAST_TEST_SEED: String(seed) },
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const { seconds, failures } = readReport(report, code)
  rmSync(report, { force: true })
  return { seed, seconds, failures, load: loadavg()[1] ?? 0 }
}

function readReport(path: string, code: number | null): Pick<Round, 'seconds' | 'failures'> {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return { seconds: 0, failures: [`the runner ended with ${code}`] }
  }
}

function describe(rounds: Round[]): string {
  const lines = rounds.map(({ seed, seconds, load, failures }, index) => {
    const figures = [index + 1, seed, seconds.toFixed(0), load.toFixed(1)]
    return `| ${figures.join(' | ')} | ${failures.join('; ') || 'none'} |`
  })
  return ['| round | seed | seconds | load | failed |', '|--:|--:|--:|--:|---|', ...lines].join('\n')
}
