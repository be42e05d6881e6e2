// The program at a terminal: in a real pseudo-terminal, or, where only the screen matters, in this process with streams
// that claim to be one.

import { PassThrough, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { program } from '@jobcast/testkit/program'
import pty from '@lydell/node-pty'
import { cleanEnv, startRun } from './run-jobcast.ts'
import { Screen } from './screen.ts'

type Terminal = {
  screen: Screen
  /** Resolves when the screen shows it. */
  until(pattern: RegExp): Promise<void>
  press(keys: string): void
  /** Resolves with the exit code. */
  ended: Promise<number>
}

type PseudoTerminal = Terminal & { resize(columns: number): void }

export const ctrlC = '\u0003'
const defaultColumns = 100

/** Without Ctrl-C and echo. */
export function openTerminal(
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
  columns = defaultColumns,
): Terminal {
  const shown = new WatchedScreen()
  const output = () => {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        // As the terminal driver does.
        shown.write(String(chunk).replaceAll('\n', '\r\n'))
        done()
      },
    })
    return Object.assign(stream, { isTTY: true, columns })
  }
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const { ended } = startRun(t, args, {
    stdin,
    stdout: output(),
    stderr: output(),
    env: terminalEnv(env),
  })
  return {
    screen: shown.screen,
    until: (pattern) => shown.until(pattern, ended),
    press: (keys) => void stdin.write(keys.replaceAll('\r', '\n')),
    ended,
  }
}

export function openPseudoTerminal(
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
): PseudoTerminal {
  const shown = new WatchedScreen()
  const rows = 40
  const child = pty.spawn(process.execPath, [program, ...args], {
    cols: defaultColumns,
    rows,
    env: terminalEnv(env),
  })
  child.onData((text) => shown.write(text))
  let hasEnded = false
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode }) => {
      hasEnded = true
      resolve(exitCode)
    })
  })
  t.after(async () => {
    if (!hasEnded) child.kill('SIGKILL')
    await ended
  })
  return {
    screen: shown.screen,
    until: (pattern) => shown.until(pattern, ended),
    press: (keys) => child.write(keys),
    resize: (columns) => child.resize(columns, rows),
    ended,
  }
}

function terminalEnv(env: Record<string, string>): Record<string, string | undefined> {
  return { ...cleanEnv(), TERM: 'xterm-256color', ...env }
}

class WatchedScreen {
  readonly screen = new Screen()
  readonly #checks = new Set<() => void>()

  write(text: string): void {
    this.screen.write(text)
    for (const check of this.#checks) check()
  }

  until(pattern: RegExp, ended: Promise<number>): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!pattern.test(this.screen.text())) return
        this.#checks.delete(check)
        resolve()
      }
      this.#checks.add(check)
      void ended.then(() => reject(new Error(`jobcast ended before ${pattern}:\n${this.screen.text()}`)))
      check()
    })
  }
}
