// The types of the package `jobcast`, which exports the command line as a function.

import type { Readable, Writable } from 'node:stream'

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** The parts of the process that a command uses. */
export type Io = {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean; columns?: number }
  stderr: Writable & { isTTY?: boolean; columns?: number }
  env: Record<string, string | undefined>
  signals: {
    on(name: SignalName, listener: (name: SignalName) => void): unknown
    off(name: SignalName, listener: (name: SignalName) => void): unknown
  }
}

/** Runs one command, for example `['runs', 'ls']`, and resolves with its exit code. `process` has everything that `Io` needs. */
export function run(argv: readonly string[], io: Io): Promise<number>
