// jobcast backup: copies the embedded database while the service runs.

import { type Command, Option } from 'commander'
import { BrokenCopy, copyDatabase } from '../database/copy-database.ts'
import { placeOf } from '../database/store-command.ts'
import { plainCommand, withOut } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'

export function backupCommand(): Command {
  return plainCommand('backup')
    .addOption(
      new Option(
        '--data <folder>',
        'data folder of the service, on this machine (default: JOBCAST_DATA, or ./data)',
      ),
    )
    .requiredOption('--to <file>', 'file to write; must not exist yet')
    .addHelpText('after', '\nExample:\n  jobcast backup --data ./data --to backup-$(date +%F).db\n')
    .action(
      withOut(async ({ out, io }, { data, to }: { data?: string; to: string }) => {
        const folder = folderOf(data, io.env)
        try {
          const copied = await copyDatabase(io, folder, to)
          out.say(
            `Backup written and verified: ${copied.file}, ${copied.bytes} bytes. It contains secrets; store it safely. ` +
              'The files secrets-key and audit-key.pem of the data folder are not in it, nor is the content of files ' +
              '(files/, files-folder, or the bucket of files-s3): keep a copy of each elsewhere.',
          )
          if (out.json) out.show(copied, () => '')
          return exitCode.ok
        } catch (error) {
          // Errors of the disk, the system or SQLite are often temporary. All others are reported by the caller.
          const { code, message } = error as NodeJS.ErrnoException
          if (!(error instanceof BrokenCopy) && code === undefined) throw error
          out.say(`jobcast: no backup was written: ${message}`)
          return error instanceof BrokenCopy ? exitCode.unexpected : exitCode.unavailable
        }
      }),
    )
}

/** PostgreSQL has better tools of its own. */
function folderOf(data: string | undefined, env: NodeJS.ProcessEnv): string {
  const { dataFolder, databaseUrl } = placeOf({ data }, env)
  if (databaseUrl === undefined) return dataFolder
  throw new UsageError(
    'the data is on PostgreSQL (DATABASE_URL is set): use its own tools, pg_dump "$DATABASE_URL" for a copy, or ' +
      'pg_basebackup with WAL archiving for point-in-time recovery. --data <folder> backs up an embedded database',
  )
}
