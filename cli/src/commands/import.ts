// jobcast import: the file of an export into an empty database.

import { existsSync } from 'node:fs'
import { describePlace, importStore } from '@jobcast/server'
import type { Command } from 'commander'
import { countColumns, countRows } from '../database/count-table.ts'
import { storeCommand, withPlace } from '../database/store-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { NothingFound } from '../errors/usage-error.ts'

export function importCommand(): Command {
  return storeCommand('import')
    .argument('<file>', 'as "jobcast export" has written it')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=postgres://… jobcast import move.jsonl.gz\n\nAll of it is imported, or nothing.\n',
    )
    .action(
      withPlace(async ({ out, place }, file: string) => {
        if (!existsSync(file)) throw new NothingFound(`there is no file ${file}`)
        const counts = await importStore(place, file)
        out.showTable(countRows(counts), countColumns)
        out.say(`Imported into ${describePlace(place)}; the counts are those of the file.`)
        return exitCode.ok
      }),
    )
}
