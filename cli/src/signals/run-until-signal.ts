// A program that runs until somebody ends it.

import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Io, SignalName } from '../io.ts'

/** A second SIGTERM changes nothing; after the first Ctrl-C nobody listens, so a second one ends it at once. */
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
