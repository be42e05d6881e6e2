// jobcast dev: the service with a sample job and simulated sample devices, and the first call ready to paste.

import type { Command } from 'commander'
import { withIo } from '../io.ts'
import { serverCommand } from '../serve/server-options.ts'

export function devCommand(): Command {
  return serverCommand('dev')
    .option('--no-sim', 'leave the sample devices offline')
    .action(
      withIo(async (io, options: Record<string, unknown>, _command: Command) => {
        // Only here: `serve` need not load simulated devices to start.
        const { runDev } = await import('../dev/run-dev.ts')
        return runDev(io, options)
      }),
    )
}
