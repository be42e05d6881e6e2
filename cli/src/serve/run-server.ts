// Runs a server until a signal, for `serve` and `dev`.

import { type Config, ConfigError, type RunningServer, startServer } from '@jobcast/server'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Io } from '../io.ts'
import { runUntilSignal } from '../signals/run-until-signal.ts'
import { configOf, explainStartError } from './server-options.ts'

/** Returns a function that stops what it has started besides the server. */
type OnStarted = (server: RunningServer, config: Config) => Promise<(() => Promise<void>) | undefined>

export async function runServer(
  io: Io,
  options: Record<string, unknown>,
  adjust: (config: Config) => Config,
  onStarted: OnStarted,
): Promise<ExitCode> {
  let config: Config | undefined
  try {
    config = adjust(configOf(options, io.env))
    if (!options.check) return await serve(io, config, onStarted)
    io.stdout.write('The settings are valid.\n')
    return exitCode.ok
  } catch (error) {
    io.stderr.write(`${explainStartError(error, config)}\n`)
    return error instanceof ConfigError ? exitCode.usage : exitCode.unexpected
  }
}

async function serve(io: Io, config: Config, onStarted: OnStarted): Promise<ExitCode> {
  const lost = Promise.withResolvers<ExitCode>()
  const server = await startUnlessTerminated(io, config, () => lost.resolve(exitCode.unexpected))
  if (server === undefined) return exitCode.terminated
  // Without a certificate, SIGHUP keeps its default: a closed terminal ends the server.
  const { reloadCertificate } = server
  if (reloadCertificate) io.signals.on('SIGHUP', () => void reloadCertificate())
  let stopOther: (() => Promise<void>) | undefined
  const ended = runUntilSignal(io, async (signal) => {
    await stopOther?.()
    await server.stop(signal)
  }).catch((error) => {
    io.stderr.write(`jobcast: could not stop cleanly: ${error instanceof Error ? error.stack : error}\n`)
    return exitCode.unexpected
  })
  const broken = onStarted(server, config).then((stop) => {
    stopOther = stop
    return lost.promise
  })
  return Promise.race([ended, lost.promise, broken])
}

/**
 * Returns undefined if SIGTERM came first: a start may wait for its database, and process 1 of a container ignores signals that
 * it does not listen for. The listener is not removed, because Node would drop a signal that has arrived but was not handled
 * yet.
 */
async function startUnlessTerminated(
  { signals }: Io,
  config: Config,
  onLost: () => void,
): Promise<RunningServer | undefined> {
  const terminated = Promise.withResolvers<undefined>()
  signals.on('SIGTERM', () => terminated.resolve(undefined))
  return Promise.race([startServer(config, { onLost }), terminated.promise])
}
