// Runs a server until a signal: the life of `serve` and `dev`.

import { type Config, type RunningServer, startServer } from '@jobcast/server'
import { configOf, explainStartError } from './server-options.ts'

export async function runServer(
  options: Record<string, unknown>,
  adjust: (config: Config) => Config,
  /** May give back how to stop what it has started beside the server. */
  onStarted: (server: RunningServer, config: Config) => Promise<(() => Promise<void>) | undefined>,
): Promise<void> {
  let stopBeside: (() => Promise<void>) | undefined
  try {
    const config = adjust(configOf(options))
    if (options.check) {
      console.log('The settings are fine.')
      return
    }
    // Process 1 of a container ignores what it does not listen for, and a start may wait for its database.
    process.once('SIGTERM', endAtOnce)
    const server = await startServer(config, { onLost: () => process.exit(1) })
    const stop = async (signal: string) => {
      try {
        await stopBeside?.()
        await server.stop(signal)
        process.exit(0)
      } catch (error) {
        console.error(
          `jobcast did not stop in order: ${error instanceof Error ? error.stack : String(error)}`,
        )
        process.exit(1)
      }
    }
    // A second SIGTERM changes nothing; a second Ctrl-C ends it at once.
    process.off('SIGTERM', endAtOnce)
    process.on('SIGTERM', stop)
    process.once('SIGINT', stop)
    stopBeside = await onStarted(server, config)
  } catch (error) {
    console.error(explainStartError(error))
    process.exit(1)
  }
}

/** As if nobody listened: 128 and the number of the signal. What was begun, the next start finishes. */
function endAtOnce(): void {
  process.exit(143)
}
