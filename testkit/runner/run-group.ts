// One group of test files in a process of its own, which ends: by itself, or by force when its time is up.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Group } from './groups.ts'

export type Outcome = {
  group: Group
  isGood: boolean
  seconds: number
  /** Of all processes that it has started and ended; measured where asked for. */
  cpuSeconds: number | undefined
  passed: number
  failed: number
  skipped: number
  /** All that it printed; worth reading where it failed. */
  output: string
}

const loader = join(import.meta.dirname, 'run-files.ts')
const keepDatabaseThreads = join(import.meta.dirname, 'keep-database-threads.ts')
// Far above what is needed: on a machine that does ten other things at once, all takes ten times as long.
const testTimeoutMs = 300_000
const groupTimeoutMs = 1_800_000
/** At its full size, one file may take as long as a whole group does otherwise. */
const timeoutOf = ({ files }: Group) =>
  process.env.JOBCAST_TEST_SIZE === 'chaos' ? files.length * groupTimeoutMs : groupTimeoutMs

/** A shell's own `times` is the only way to what the processes of a process have used. It has no channel of its own. */
const measuring = ['sh', '-c', '"$@"; code=$?; echo "cpu seconds:"; times; exit $code', 'sh']

export async function runGroup(group: Group, root: string, { isMeasured = false } = {}): Promise<Outcome> {
  const startedAt = performance.now()
  const [command = '', ...args] = [
    ...(isMeasured ? measuring : []),
    process.execPath,
    '--import',
    keepDatabaseThreads,
    '--test-reporter=spec',
    `--test-timeout=${testTimeoutMs}`,
    loader,
    ...group.files,
  ]
  // In a process group of its own, so that whatever it started can be ended with it.
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...group.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const end = () => endAll(child.pid)
  process.once('exit', end)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, timeoutOf(group))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  // What its tests have left behind would otherwise outlive them.
  end()
  process.off('exit', end)
  if (isLate) output += `\nStopped: it did not end within ${timeoutOf(group) / 1000} s.\n`
  const [passed, skipped] = [countOf(output, 'pass'), countOf(output, 'skipped')]
  const isGood = code === 0 && !isLate && passed + skipped > 0
  const failed = countOf(output, 'fail') + countOf(output, 'cancelled')
  return {
    group,
    isGood,
    seconds: (performance.now() - startedAt) / 1000,
    cpuSeconds: isMeasured ? cpuSecondsOf(output) : undefined,
    passed,
    failed: failed === 0 && !isGood ? 1 : failed,
    skipped,
    output,
  }
}

/** From the closing lines of the reporter: `ℹ pass 12`. */
function countOf(output: string, what: string): number {
  return Number(new RegExp(`^. ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
}

/** Two lines, the shell's own and its children's, user and system: `0m0.00s 0m0.00s`. */
function cpuSecondsOf(output: string): number {
  const times = output.split('\ncpu seconds:\n').at(-1) ?? ''
  return [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (total, [, minutes, seconds]) => total + Number(minutes) * 60 + Number(seconds),
    0,
  )
}

function endAll(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left.
  }
}
