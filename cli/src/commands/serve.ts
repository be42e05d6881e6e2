// jobcast serve: runs the service in production, without samples.

import { existsSync } from 'node:fs'
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
          if (adminKey !== undefined) return undefined
          // On standard error: standard output is for log lines. Only on a terminal: logs are stored and read by others.
          const file = join(dataFolder, 'admin-key')
          const isSeen = io.stdout.isTTY && io.stderr.isTTY
          if (newAdminKey === undefined) {
            // A first start that failed, for example because a port was in use, has created the key as well.
            if (isSeen && existsSync(file)) io.stderr.write(`The first admin API key is in ${file}\n`)
            return undefined
          }
          io.stderr.write(
            isSeen
              ? `Admin API key, shown only once and kept in ${file}:\n  ${newAdminKey}\n`
              : `Admin API key created; it is in ${file}\n`,
          )
          return undefined
        },
      ),
    ),
  )
}
