// For programs that run until a signal ends them.

import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Io, SignalName } from '../io.ts'

/** Further SIGTERMs are ignored; a second Ctrl-C finds no listener and ends the process at once. */
export async function runUntilSignal(
  { signals }: Pick<Io, 'signals'>,
  stop: (signal: SignalName) => Promise<void>,
): Promise<ExitCode> {
  const { promise, resolve } = Promise.withResolvers<SignalName>()
  const end = (name: SignalName) => {
    signals.off('SIGINT', end)
    resolve(name)
  }
  signals.on('SIGTERM', end)
  signals.on('SIGINT', end)
  await stop(await promise)
  return exitCode.ok
}
