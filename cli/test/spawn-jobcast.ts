// Runs the program in a separate process: for signals, broken pipes, the log of a server, trust in certificates, and the
// start of the program itself.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { program } from '@jobcast/testkit/program'
import { cleanEnv, type Finished } from './run-jobcast.ts'

export type Spawned = {
  pid: number
  stdout: () => string
  stderr: () => string
  /** Resolves when standard output matches. */
  until: (pattern: RegExp) => Promise<RegExpExecArray>
  /** The same of standard error. */
  untilError: (pattern: RegExp) => Promise<RegExpExecArray>
  isRunning: () => boolean
  /** Resolves with the exit code. */
  ended: Promise<number | null>
  /** As `| head` does when it has read enough. */
  closeStdout: () => void
  end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Runs it to its end. */
export async function spawnToEnd(
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
): Promise<Finished> {
  const { ended, stdout, stderr } = spawnJobcast(t, args, env)
  const code = (await ended) ?? Number.NaN
  return { code, stdout: stdout(), stderr: stderr() }
}

/** Starts it; if it is still running after the test, it is killed. */
export function spawnJobcast(
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
  stdoutTo: number | 'pipe' = 'pipe',
): Spawned {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...cleanEnv(), ...env },
    stdio: ['ignore', stdoutTo, 'pipe'],
  })
  // Not 'exit': the last of its output may not have arrived then.
  const gone = once(child, 'close') as Promise<[number | null]>
  t.after(async () => {
    child.kill('SIGKILL')
    await gone
  })
  let stdout = ''
  let stderr = ''
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  const untilIn = (stream: Readable | null, text: () => string) => (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const check = () => {
        const match = pattern.exec(text())
        if (match) resolve(match)
      }
      stream?.on('data', check)
      void gone.then(() => reject(new Error(`jobcast ended before ${pattern}: ${stdout}${stderr}`)))
      check()
    })
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    until: untilIn(child.stdout, () => stdout),
    untilError: untilIn(child.stderr, () => stderr),
    ended: gone.then(([code]) => code),
    closeStdout: () => child.stdout?.destroy(),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async end(signal) {
      child.kill(signal)
      const [code] = await gone
      return code
    },
  }
}
