// jobcast import: reads an exported file into an empty database.

import { existsSync } from 'node:fs'
import { describePlace, importStore } from '@jobcast/server'
import type { Command } from 'commander'
import { countColumns, countRows } from '../database/count-table.ts'
import { storeCommand, withDatabase } from '../database/store-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { withTaskBar } from '../output/task-bar.ts'

export function importCommand(): Command {
  return storeCommand('import')
    .argument('<file>', 'file written by "jobcast export"')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=postgres://… jobcast import move.jsonl.gz\n\nEither everything is imported or nothing.\n',
    )
    .action(
      withDatabase(async ({ out, io, place }, file: string) => {
        if (!existsSync(file)) throw new UsageError(`file ${file} does not exist`)
        const counts = await withTaskBar(io, 'Importing', (onProgress) =>
          importStore(place, file, onProgress),
        )
        out.showTable(countRows(counts), countColumns)
        out.say(`Imported into ${describePlace(place)}; the row counts match the file.`)
        return exitCode.ok
      }),
    )
}
