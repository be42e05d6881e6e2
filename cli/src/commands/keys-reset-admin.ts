// jobcast keys reset-admin: creates a new ADMIN key for an operator who lost theirs, without the service.

import { writeFileSync } from 'node:fs'
import { resetAdminKey } from '@jobcast/server'
import { type Command, Option } from 'commander'
import { storeCommand, withDatabase } from '../database/store-command.ts'
import { writeNewFile } from '../database/write-new-file.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'

type Flags = { data?: string; file?: string; print?: true }

export function resetAdminCommand(): Command {
  return storeCommand('reset-admin')
    .description(
      'Create an ADMIN key directly in the database, if no ADMIN key is left. Other keys stay valid.',
    )
    .option('--file <file>', 'write the key to this new file, which only you can read')
    .addOption(
      new Option('--print', 'print the key, also when standard output is not a terminal').conflicts('file'),
    )
    .addHelpText(
      'after',
      '\nAn embedded database must not be in use: stop the service first. On PostgreSQL it can run.\n' +
        '\nExample:\n  jobcast keys reset-admin --data ./data --file admin-key.new\n',
    )
    .action(
      withDatabase(async ({ io, out, place }, { file, print }: Flags) => {
        if (file !== undefined) {
          const { written: keyId } = await writeNewFile(io, file, 'a key', async (draft) => {
            // The file is created first, so that no key is created that cannot be stored.
            writeFileSync(draft, '', { mode: 0o600, flag: 'wx' })
            const { id, text } = await resetAdminKey(place, Date.now)
            writeFileSync(draft, `${text}\n`)
            return id
          })
          out.say(`Created ADMIN key ${keyId}; it is in ${file}.`)
          return exitCode.ok
        }
        // Only on a terminal: other output may be stored and read by others.
        if (!io.stdout.isTTY && !print)
          throw new UsageError('standard output is not a terminal; use --file to store the key, or --print')
        const { id, text } = await resetAdminKey(place, Date.now)
        out.say(`Created ADMIN key ${id}. It is shown only once:`)
        out.show({ keyId: id, apiKey: text }, () => text)
        return exitCode.ok
      }),
    )
}
