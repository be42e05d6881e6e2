// jobcast serve: production. No samples; the admin key of an empty database is shown once.

import { join } from 'node:path'
import type { Command } from 'commander'
import { runServer } from './run-server.ts'
import { serverCommand } from './server-options.ts'

export function serveCommand(): Command {
  return serverCommand('serve').action((options) =>
    runServer(
      options,
      (config) => ({ ...config, jsonLog: config.jsonLog || !process.stdout.isTTY }),
      async ({ newAdminKey }, { dataFolder, adminKey }) => {
        if (newAdminKey === undefined || adminKey !== undefined) return undefined
        // On stderr: standard output is for log lines.
        console.error(
          `Admin API key, shown this once and kept in ${join(dataFolder, 'admin-key')}:\n  ${newAdminKey}`,
        )
        return undefined
      },
    ),
  )
}
