// jobcast export: everything that a database holds, in one file.

import { statSync } from 'node:fs'
import { describePlace, exportStore } from '@jobcast/server'
import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { countColumns, countRows } from '../database/count-table.ts'
import { storeCommand, withPlace } from '../database/store-command.ts'
import { writeNewFile } from '../database/write-new-file.ts'
import { exitCode } from '../errors/exit-code.ts'

export function exportCommand(): Command {
  return storeCommand('export')
    .argument('<file>', 'must not be there yet')
    .addHelpText(
      'after',
      '\nExample:\n  jobcast export --data ./data move.jsonl.gz\n\nIt is of one instant, also beside a running service.\n',
    )
    .action(
      withPlace(async ({ out, io, place }, to: string) => {
        const { file, written } = await writeNewFile(io, to, 'an export', (draft) =>
          exportStore(place, draft, packageJson.version),
        )
        out.showTable(countRows(written), countColumns)
        const { size } = statSync(file)
        out.say(
          `Exported from ${describePlace(place)}: ${file}, ${size} bytes. It holds secrets; keep it like one.`,
        )
        return exitCode.ok
      }),
    )
}
