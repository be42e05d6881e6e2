// jobcast dev: the service with a sample job and simulated sample devices, and the first call ready to paste.

import type { Command } from 'commander'
import { serverCommand } from './server-options.ts'

export function devCommand(): Command {
  return serverCommand('dev')
    .option('--no-sim', 'leave the sample devices offline')
    .action(async (options) => {
      // Only here: `serve` need not load simulated devices to start.
      const { runDev } = await import('./run-dev.ts')
      await runDev(options)
    })
}
