// The program in a real pseudo-terminal, as somebody at a keyboard runs it.

import type { TestContext } from 'node:test'
import pty from '@lydell/node-pty'
import { cleanEnv, program } from './run-jobcast.ts'
import { Screen } from './screen.ts'

export type Terminal = {
  screen: Screen
  /** Resolves when the screen shows it. */
  until(pattern: RegExp): Promise<void>
  press(keys: string): void
  resize(columns: number): void
  /** Resolves with the exit code. */
  ended: Promise<number>
}

export const ctrlC = '\u0003'

export function openTerminal(
  t: TestContext,
  args: string[],
  env: Record<string, string> = {},
  columns = 100,
): Terminal {
  const screen = new Screen()
  const child = pty.spawn(process.execPath, [program, ...args], {
    cols: columns,
    rows: 40,
    env: { ...cleanEnv(), TERM: 'xterm-256color', ...env },
  })
  const looks = new Set<() => void>()
  child.onData((text) => {
    screen.write(text)
    for (const look of looks) look()
  })
  let isOver = false
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode }) => {
      isOver = true
      resolve(exitCode)
    })
  })
  t.after(async () => {
    if (!isOver) child.kill('SIGKILL')
    await ended
  })
  return {
    screen,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(screen.text())) return
          looks.delete(look)
          resolve()
        }
        looks.add(look)
        void ended.then(() => reject(new Error(`jobcast ended before ${pattern}:\n${screen.text()}`)))
        look()
      }),
    press: (keys) => child.write(keys),
    resize: (to) => child.resize(to, 40),
    ended,
  }
}
