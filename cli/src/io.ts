// The parts of the process that a command uses. Only main.ts takes them from `process`, so tests can run commands in their
// own process.

import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import type { ExitCode } from './errors/exit-code.ts'

/** `columns` and the event `resize` are those of a terminal. */
export type TextOutput = Writable & { isTTY?: boolean; columns?: number }

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

type Signals = {
  on(name: SignalName, listener: (name: SignalName) => void): unknown
  off(name: SignalName, listener: (name: SignalName) => void): unknown
}

export type Io = {
  stdin: Readable & { isTTY?: boolean }
  stdout: TextOutput
  stderr: TextOutput
  env: NodeJS.ProcessEnv
  signals: Signals
}

/** One call of the program. Commander returns nothing from an action, so the exit code is kept here. */
type Invocation = { readonly io: Io; exitCode: ExitCode }

const invocations = new WeakMap<Command, Invocation>()

export function bindInvocation(program: Command, io: Io): Invocation {
  const invocation: Invocation = { io, exitCode: 0 }
  invocations.set(program, invocation)
  return invocation
}

/** An action for commander. Its last argument is its command, from which the bound program is found. */
export function withIo<Args extends unknown[]>(act: (io: Io, ...args: Args) => Promise<ExitCode>) {
  return async (...args: Args): Promise<void> => {
    const invocation = invocationOf(args.at(-1) as Command)
    invocation.exitCode = await act(invocation.io, ...args)
  }
}

function invocationOf(command: Command): Invocation {
  const invocation = invocations.get(command)
  if (invocation !== undefined) return invocation
  if (command.parent === null) throw new Error(`${command.name()} is not run by run()`)
  return invocationOf(command.parent)
}
