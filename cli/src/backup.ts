// jobcast backup: a copy of the embedded database while the service runs.

import { type Command, Option } from 'commander'
import { BrokenCopy, copyDatabase } from './copy-database.ts'
import { exitCode } from './exit-code.ts'
import { plainCommand, withOut } from './owner-command.ts'

export function backupCommand(): Command {
  return plainCommand('backup')
    .addOption(
      new Option('--data <folder>', 'the data folder of the service, on this machine')
        .env('JOBCAST_DATA')
        .default('./data'),
    )
    .requiredOption('--to <file>', 'the copy; must not be there yet')
    .addHelpText('after', '\nExample:\n  jobcast backup --data ./data --to backup-$(date +%F).db\n')
    .action(
      withOut(async ({ out }, { data, to }: { data: string; to: string }) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) {
          process.once(signal, () =>
            process.exit(exitCode[signal === 'SIGINT' ? 'interrupted' : 'terminated']),
          )
        }
        try {
          const copied = await copyDatabase(data, to)
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
