// Runs commands in the test's own process. Tests that need a separate process use spawn-jobcast.ts.

import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import type { Io, SignalName } from '../src/io.ts'
import { run } from '../src/run.ts'

export type Finished = { code: number; stdout: string; stderr: string }

/**
 * Runs it to its end with `input` on standard input. `env` is added to an environment without settings and profiles, in
 * which MQTT uses a free port.
 */
export async function runJobcast(
  args: string[],
  env: Record<string, string> = {},
  input = '',
): Promise<Finished> {
  const [stdout, stderr] = [new CollectedText(), new CollectedText()]
  const code = await run(args, {
    stdin: Readable.from([input]),
    stdout,
    stderr,
    env: { ...cleanEnv(), ...env },
    signals: new EventEmitter(),
  })
  return { code, stdout: stdout.text, stderr: stderr.text }
}

export type Started = {
  stdout: () => string
  stderr: () => string
  /** Resolves when standard output matches. */
  until: (pattern: RegExp) => Promise<RegExpExecArray>
  /** The same of standard error. */
  untilError: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Resolves with the exit code. */
  ended: Promise<number>
  /** Sends a signal, which the command must be listening for. */
  end: (signal: SignalName) => Promise<number>
}

/** Starts it; if it is still running after the test, it is ended. */
export function startJobcast(t: TestContext, args: string[], env: Record<string, string> = {}): Started {
  const [stdout, stderr] = [new CollectedText(), new CollectedText()]
  const io = { stdin: Readable.from([]), stdout, stderr, env: { ...cleanEnv(), ...env } }
  const { ended, send } = startRun(t, args, io)
  const endedText = () => `jobcast ${args[0]} ended: ${stdout.text}${stderr.text}`
  return {
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    until: (pattern) => stdout.until(pattern, ended.then(endedText)),
    untilError: (pattern) => stderr.until(pattern, ended.then(endedText)),
    ended,
    end(signal) {
      send(signal)
      return ended
    },
  }
}

/** If it is still running after the test, SIGTERM ends it: every command that waits listens for it. */
export function startRun(t: TestContext, args: string[], io: Omit<Io, 'signals'>) {
  const signals = new EventEmitter()
  let hasEnded = false
  const ended = run(args, { ...io, signals }).finally(() => {
    hasEnded = true
  })
  const send = (signal: SignalName) => {
    if (!signals.emit(signal, signal)) throw new Error(`jobcast ${args[0]} does not listen for ${signal}`)
  }
  t.after(async () => {
    if (!hasEnded) send('SIGTERM')
    await ended
  })
  return { ended, send }
}

/** Collects what is written, and resolves who waits for a match. */
class CollectedText extends Writable {
  text = ''
  readonly #checks = new Set<() => void>()

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk
    for (const check of this.#checks) check()
    done()
  }

  /** Rejects with the text of `ended` when that comes first. */
  until(pattern: RegExp, ended: Promise<string>): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const match = pattern.exec(this.text)
        if (match) resolve(match)
      }
      this.#checks.add(check)
      ended.then((text) => reject(new Error(`not seen: ${pattern}; ${text}`)), reject)
      check()
    })
  }
}

export function dataFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobcast-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What a program needs to run, without variables that would change its output: CI, colors, proxies. */
const inherited = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'SHELL', 'SystemRoot', 'NODE_COMPILE_CACHE']

export function cleanEnv(): Record<string, string | undefined> {
  // Those that are set: a pseudo-terminal would pass on the others as the word "undefined".
  const set = inherited.filter((name) => process.env[name] !== undefined)
  const base = Object.fromEntries(set.map((name) => [name, process.env[name]]))
  const noProfiles = join(tmpdir(), 'jobcast-without-profiles')
  return { ...base, JOBCAST_MQTT_PORT: '0', XDG_CONFIG_HOME: noProfiles }
}
