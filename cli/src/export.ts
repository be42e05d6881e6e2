// jobcast export: everything that a database holds, in one file.

import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { describePlace, exportStore } from '@jobcast/server'
import type { Command } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { countColumns, countRows } from './count-table.ts'
import { exitCode } from './exit-code.ts'
import { storeCommand, withPlace } from './store-command.ts'
import { UsageError } from './usage-error.ts'

export function exportCommand(): Command {
  return storeCommand('export')
    .argument('<file>', 'must not be there yet')
    .addHelpText(
      'after',
      '\nExample:\n  jobcast export --data ./data move.jsonl.gz\n\nIt is of one instant, also beside a running service.\n',
    )
    .action(
      withPlace(async ({ out, place }, to: string) => {
        const file = resolve(to)
        if (!existsSync(dirname(file))) throw new UsageError(`there is no folder ${dirname(file)}`)
        refuseExisting(file)
        const draft = `${file}.${process.pid}.part`
        const undo = () => rmSync(draft, { force: true })
        process.once('exit', undo)
        const counts = await exportStore(place, draft, packageJson.version)
        refuseExisting(file)
        renameSync(draft, file)
        out.showTable(countRows(counts), countColumns)
        const { size } = statSync(file)
        out.say(
          `Exported from ${describePlace(place)}: ${file}, ${size} bytes. It holds secrets; keep it like one.`,
        )
        return exitCode.ok
      }),
    )
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new UsageError(`${file} is there already; an export replaces nothing`)
}
