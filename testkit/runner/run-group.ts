// One group of test files in a process of its own, which ends: by itself, or by force when its time is up.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Group } from './groups.ts'

export type Outcome = {
  group: Group
  isGood: boolean
  seconds: number
  passed: number
  failed: number
  skipped: number
  /** All that it printed; worth reading where it failed. */
  output: string
}

const loader = join(import.meta.dirname, 'run-files.ts')
const useBuiltThread = join(import.meta.dirname, 'use-built-thread.ts')
// Far above what is needed: on a machine that does ten other things at once, all takes ten times as long.
const testTimeoutMs = 300_000
const groupTimeoutMs = 900_000
/** At its full size, one file may take as long as a whole group does otherwise. */
const timeoutOf = ({ files }: Group) =>
  process.env.JOBCAST_TEST_SIZE === 'chaos' ? files.length * groupTimeoutMs : groupTimeoutMs

export async function runGroup(group: Group, root: string): Promise<Outcome> {
  const startedAt = performance.now()
  const args = [
    '--import',
    useBuiltThread,
    '--test-reporter=spec',
    `--test-timeout=${testTimeoutMs}`,
    loader,
    ...group.files,
  ]
  // In a process group of its own, so that whatever it started can be ended with it.
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...group.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    endAll(child.pid)
  }, timeoutOf(group))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  // What its tests have left behind would otherwise outlive them.
  endAll(child.pid)
  if (isLate) output += `\nStopped: it did not end within ${timeoutOf(group) / 1000} s.\n`
  const [passed, skipped] = [countOf(output, 'pass'), countOf(output, 'skipped')]
  const isGood = code === 0 && !isLate && passed + skipped > 0
  const failed = countOf(output, 'fail') + countOf(output, 'cancelled')
  return {
    group,
    isGood,
    seconds: (performance.now() - startedAt) / 1000,
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

function endAll(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left.
  }
}
