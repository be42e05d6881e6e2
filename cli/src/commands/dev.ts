// jobcast dev: the service with a sample job and simulated devices, and a first call to paste.

import type { Command } from 'commander'
import { withIo } from '../io.ts'
import { serverCommand } from '../serve/server-options.ts'

export function devCommand(): Command {
  return serverCommand('dev')
    .option('--no-sim', 'do not simulate the sample devices')
    .action(
      withIo(async (io, options: Record<string, unknown>, _command: Command) => {
        // Loaded here, so that `serve` does not load simulated devices.
        const { runDev } = await import('../dev/run-dev.ts')
        return runDev(io, options)
      }),
    )
}
