// Runs a server until a signal: the life of `serve` and `dev`.

import { type Config, type RunningServer, startServer } from '@jobcast/server'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Io } from '../io.ts'
import { runUntilSignal } from '../signals/run-until-signal.ts'
import { configOf, explainStartError } from './server-options.ts'

/** Gives back how to stop what it has started beside the server. */
type OnStarted = (server: RunningServer, config: Config) => Promise<(() => Promise<void>) | undefined>

export async function runServer(
  io: Io,
  options: Record<string, unknown>,
  adjust: (config: Config) => Config,
  onStarted: OnStarted,
): Promise<ExitCode> {
  try {
    const config = adjust(configOf(options, io.env))
    if (!options.check) return await serve(io, config, onStarted)
    io.stdout.write('The settings are fine.\n')
    return exitCode.ok
  } catch (error) {
    io.stderr.write(`${explainStartError(error)}\n`)
    return exitCode.unexpected
  }
}

async function serve(io: Io, config: Config, onStarted: OnStarted): Promise<ExitCode> {
  const lost = Promise.withResolvers<ExitCode>()
  const server = await startUnlessTerminated(io, config, () => lost.resolve(exitCode.unexpected))
  if (server === undefined) return exitCode.terminated
  let stopBeside: (() => Promise<void>) | undefined
  const ended = runUntilSignal(io, async (signal) => {
    await stopBeside?.()
    await server.stop(signal)
  }).catch((error) => {
    io.stderr.write(`jobcast did not stop in order: ${error instanceof Error ? error.stack : error}\n`)
    return exitCode.unexpected
  })
  const broken = onStarted(server, config).then((stop) => {
    stopBeside = stop
    return lost.promise
  })
  return Promise.race([ended, lost.promise, broken])
}

/**
 * Process 1 of a container ignores what it does not listen for, and a start may wait for its database. Undefined then;
 * what was begun, the next start finishes.
 */
async function startUnlessTerminated(
  { signals }: Io,
  config: Config,
  onLost: () => void,
): Promise<RunningServer | undefined> {
  const terminated = Promise.withResolvers<undefined>()
  const onTerminate = () => terminated.resolve(undefined)
  signals.on('SIGTERM', onTerminate)
  try {
    return await Promise.race([startServer(config, { onLost }), terminated.promise])
  } finally {
    signals.off('SIGTERM', onTerminate)
  }
}
