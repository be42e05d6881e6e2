// Runs the test files of one group in its own process, which ends by itself or is killed at its time limit.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Group } from './plan.ts'
import type { FileReport } from './report-files.ts'

/**
 * The result of one file. `output` is what its process printed meanwhile, for failures. `repeat` is the command that runs it
 * again, if that is not `npm test`.
 */
export type Outcome = FileReport & { group: Group; output: string; repeat?: string }

type Message = FileReport | { started: string }

const loader = join(import.meta.dirname, 'run-files.ts')
const reporter = join(import.meta.dirname, 'report-files.ts')
const keepDatabaseThreads = join(import.meta.dirname, 'keep-database-threads.ts')
// Far above what is needed: on a machine that does ten other things at once, everything takes ten times as long.
const testTimeoutMs = process.env.JOBCAST_TEST_SIZE === 'chaos' ? 1_800_000 : 300_000
const groupTimeoutMs = 2_400_000
/** Time for a process to end by itself after its last file. */
const endTimeoutMs = 120_000
const maxOutput = 20_000
/** At full size, one file may take as long as a whole group otherwise. */
const timeoutOf = ({ files }: Group) =>
  process.env.JOBCAST_TEST_SIZE === 'chaos' ? files.length * groupTimeoutMs : groupTimeoutMs

/** `onEnd` is called for each file when it ends. */
export async function runGroup(group: Group, root: string, onEnd: (outcome: Outcome) => void): Promise<void> {
  const startedAt = performance.now()
  const args = [
    ...['--import', keepDatabaseThreads],
    `--test-reporter=${reporter}`,
    `--test-timeout=${testTimeoutMs}`,
    loader,
    ...group.files,
  ]
  // In its own process group, so that everything it started can be ended with it.
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...group.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  })
  const end = () => endAll(child.pid)
  process.once('exit', end)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-maxOutput)
    })
  }
  let late: string | undefined
  const stopIn = (ms: number, why: string) => {
    clearTimeout(timer)
    return setTimeout(() => {
      late = why
      end()
    }, ms)
  }
  let timer: NodeJS.Timeout | undefined
  timer = stopIn(timeoutOf(group), `it did not end within ${timeoutOf(group) / 1000} s`)
  const unfinished = new Set<string>(group.files)
  let current = group.files[0] ?? ''
  let failures = 0
  child.on('message', (message: Message) => {
    if ('started' in message) {
      current = message.started
      return
    }
    unfinished.delete(message.file)
    if (unfinished.size === 0) timer = stopIn(endTimeoutMs, 'it was still open after its last file')
    failures += message.failures.length
    onEnd({ ...message, group, output })
    output = ''
  })
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once('close', (...ended) => resolve(ended)),
  )
  clearTimeout(timer)
  // End the processes that its tests have left behind.
  end()
  process.off('exit', end)
  if (unfinished.size === 0 && (code === 0 || failures > 0)) return
  const why = late ?? describeEnd(code, signal)
  const others = [...unfinished].filter((file) => file !== current)
  const text = [
    `The process of this file ended: ${why}.`,
    ...(others.length > 0 ? [`These files were not run: ${others.join(', ')}`] : []),
  ].join('\n')
  const seconds = (performance.now() - startedAt) / 1000
  onEnd({
    file: current,
    seconds,
    cpuSeconds: undefined,
    passed: 0,
    failures: [{ title: '', text }],
    skipped: [],
    group,
    output,
  })
}

const describeEnd = (code: number | null, signal: string | null) =>
  signal === null ? `exit code ${code}` : `signal ${signal}`

function endAll(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // No process is left in the group.
  }
}
