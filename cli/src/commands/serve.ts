// jobcast serve: runs the service in production, without samples.

import { join } from 'node:path'
import type { Command } from 'commander'
import { withIo } from '../io.ts'
import { runServer } from '../serve/run-server.ts'
import { serverCommand } from '../serve/server-options.ts'

export function serveCommand(): Command {
  return serverCommand('serve').action(
    withIo((io, options: Record<string, unknown>, _command: Command) =>
      runServer(
        io,
        options,
        (config) => ({ ...config, jsonLog: config.jsonLog || !io.stdout.isTTY }),
        async ({ newAdminKey }, { dataFolder, adminKey }) => {
          if (newAdminKey === undefined || adminKey !== undefined) return undefined
          // On stderr: standard output is for log lines.
          io.stderr.write(
            `Admin API key, shown this once and kept in ${join(dataFolder, 'admin-key')}:\n  ${newAdminKey}\n`,
          )
          return undefined
        },
      ),
    ),
  )
}
