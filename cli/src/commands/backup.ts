// jobcast backup: a copy of the embedded database while the service runs.

import { loadPlace } from '@jobcast/server'
import { type Command, Option } from 'commander'
import { BrokenCopy, copyDatabase } from '../database/copy-database.ts'
import { plainCommand, withOut } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'

export function backupCommand(): Command {
  return plainCommand('backup')
    .addOption(
      new Option(
        '--data <folder>',
        'the data folder of the service, on this machine (default JOBCAST_DATA, or ./data)',
      ),
    )
    .requiredOption('--to <file>', 'the copy; must not be there yet')
    .addHelpText('after', '\nExample:\n  jobcast backup --data ./data --to backup-$(date +%F).db\n')
    .action(
      withOut(async ({ out, io }, { data, to }: { data?: string; to: string }) => {
        const folder = folderOf(data, io.env)
        try {
          const copied = await copyDatabase(io, folder, to)
          out.say(
            `Copied and checked: ${copied.file}, ${copied.bytes} bytes. It holds secrets; keep it like one.`,
          )
          if (out.json) out.show(copied, () => '')
          return exitCode.ok
        } catch (error) {
          // Of the disk, of the system, of SQLite: it may go another time. All others are told elsewhere.
          const { code, message } = error as NodeJS.ErrnoException
          if (!(error instanceof BrokenCopy) && code === undefined) throw error
          out.say(`jobcast: no backup was made: ${message}`)
          return error instanceof BrokenCopy ? exitCode.unexpected : exitCode.unavailable
        }
      }),
    )
}

/** PostgreSQL has programs of its own for it, which know more than we do. */
function folderOf(data: string | undefined, env: NodeJS.ProcessEnv): string {
  const { dataFolder, databaseUrl } = loadPlace(data, env)
  if (databaseUrl === undefined) return dataFolder
  throw new UsageError(
    'the data is on PostgreSQL (DATABASE_URL is set): back it up with its own programs, pg_dump "$DATABASE_URL" for a copy, ' +
      'pg_basebackup and the archived log for every instant. --data <folder> copies an embedded database',
  )
}
