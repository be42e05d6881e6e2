// The parts of the process that the agent's programs use.

import type { Writable } from 'node:stream'

type SignalName = 'SIGINT' | 'SIGTERM'

export type ProcessIo = {
  stdout: Writable
  stderr: Writable
  env: NodeJS.ProcessEnv
  signals: {
    on(name: SignalName, listener: () => void): unknown
    off(name: SignalName, listener: () => void): unknown
  }
}

export const exitCode = { ok: 0, unexpected: 1, usage: 2 } as const
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]
