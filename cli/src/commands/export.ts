// jobcast export: writes a whole database to one file.

import { statSync } from 'node:fs'
import { describePlace, exportStore } from '@jobcast/server'
import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { countColumns, countRows, tableWords } from '../database/count-table.ts'
import { storeCommand, withDatabase } from '../database/store-command.ts'
import { writeNewFile } from '../database/write-new-file.ts'
import { exitCode } from '../errors/exit-code.ts'
import { withTaskBar } from '../output/task-bar.ts'

export function exportCommand(): Command {
  return storeCommand('export')
    .argument('<file>', 'file to write; must not exist yet')
    .addHelpText(
      'after',
      '\nExample:\n  jobcast export --data ./data move.jsonl.gz\n\nThe export is a consistent snapshot, also while a service is running.\n',
    )
    .action(
      withDatabase(async ({ out, io, place }, to: string) => {
        const { file, written } = await writeNewFile(io, to, 'an export', (draft) =>
          withTaskBar(io, 'Exporting', (onProgress) =>
            exportStore(place, draft, packageJson.version, tableWords(onProgress)),
          ),
        )
        out.showTable(countRows(written), countColumns)
        const { size } = statSync(file)
        out.say(
          `Exported from ${describePlace(place)}: ${file}, ${size} bytes. It contains secrets; store it safely. ` +
            'It does not contain audit-key.pem, without which a service does not start on it, secrets-key, and the content of files: ' +
            'copy these from the data folder as well, or from where audit-key, secrets-key, files-folder and files-s3 say they are.',
        )
        return exitCode.ok
      }),
    )
}
