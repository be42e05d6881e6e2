// The program as a user runs it.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

export const program = fileURLToPath(new URL('../bin/jobcast.js', import.meta.url))

export type Finished = { code: number; stdout: string; stderr: string }

/**
 * Runs it to its end, `input` on its standard input. `env` comes on top of an environment without settings and
 * profiles, but that MQTT takes a free port.
 */
export function runJobcast(args: string[], env: Record<string, string> = {}, input = ''): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: { ...cleanEnv(), ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr })
      },
    )
    // It may end without having read it.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

export type Started = {
  stdout: () => string
  stderr: () => string
  /** Resolves when standard output matches. */
  until: (pattern: RegExp) => Promise<RegExpExecArray>
  /** The same of standard error. */
  untilError: (pattern: RegExp) => Promise<RegExpExecArray>
  isRunning: () => boolean
  /** Resolves with the exit code, when it ends by itself. */
  ended: Promise<number | null>
  /** As `| head` does when it has had enough. */
  closeStdout: () => void
  end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Starts it; it is killed after the test if it still runs. */
export function startJobcast(
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
  stdoutTo: number | 'pipe' = 'pipe',
): Started {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...cleanEnv(), ...env },
    stdio: ['ignore', stdoutTo, 'pipe'],
  })
  // Not 'exit': then the last of its output may still be on the way.
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
      const look = () => {
        const match = pattern.exec(text())
        if (match) resolve(match)
      }
      stream?.on('data', look)
      void gone.then(() => reject(new Error(`jobcast ended before ${pattern}: ${stdout}${stderr}`)))
      look()
    })
  return {
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

export function dataFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobcast-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What a program needs to run, and nothing by which the machine would change what it prints: CI, colours, proxies. */
const passedOn = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'SHELL', 'SystemRoot', 'NODE_COMPILE_CACHE']

export function cleanEnv(): Record<string, string | undefined> {
  const passed = Object.fromEntries(passedOn.map((name) => [name, process.env[name]]))
  const noProfiles = join(tmpdir(), 'jobcast-without-profiles')
  return { ...passed, JOBCAST_MQTT_PORT: '0', XDG_CONFIG_HOME: noProfiles }
}
