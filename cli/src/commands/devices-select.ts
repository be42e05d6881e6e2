// jobcast devices count and import.

import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { readText } from '../input/read-content.ts'
import { fieldsText } from '../output/print-table.ts'
import { type OnProgress, withTaskBar } from '../output/task-bar.ts'

type ImportFlags = { csv?: true; merge?: true; dryRun?: true }

const shownFailures = 20
const importHelp = `
Rejected lines do not stop the others; the exit code is then 5.
CSV begins with a header line: deviceId, then any fields except window, and attributes. Tags are separated by ;.
`

export function countCommand(): Command {
  return ownerCommand('count')
    .description('Count the devices that match a selector.')
    .argument('<where>', 'selector')
    .action(
      withClient(async ({ client, out }, where: string) => {
        const count = await client.devices.count(where)
        out.show(count, () =>
          fieldsText(
            {
              devices: count.total,
              online: count.online,
              busy: count.busy,
              'unknown names': count.unknownNames.join(', ') || null,
              sample: count.sample.join(', ') || null,
            },
            out.paint,
          ),
        )
      }),
    )
}

export function importDevicesCommand(): Command {
  return ownerCommand('import')
    .description('Create or replace devices from an NDJSON or CSV file, one device per line.')
    .argument('<file>', 'file; - is standard input')
    .option('--csv', 'the file is CSV (default: if its name ends with .csv)')
    .option('--merge', 'update only the fields that a line has (default: replace devices that exist)')
    .option('--dry-run', 'show what would be created and overwritten, and store nothing')
    .addHelpText('after', importHelp)
    .action(
      withClient(async ({ client, out, io }, file: string, { csv, merge, dryRun }: ImportFlags) => {
        const isCsv = csv ?? /\.csv$/i.test(file)
        // In CSV, a quoted line break is part of a value and must not change.
        const lines = (await readText(io, file)).replace(/^\ufeff/, '').split(isCsv ? '\n' : /\r?\n/)
        const result = await withTaskBar(io, 'Importing', (onProgress) =>
          client.devices.import(counted(lines, onProgress), { csv: isCsv, merge, dryRun }),
        )
        const { created, updated, unchanged, failed, failedTotal, overwritten = [] } = result
        for (const { line, code, message } of failed.slice(0, shownFailures)) {
          out.say(`${file === '-' ? 'standard input' : file}:${line}: ${message} (${code})`)
        }
        if (failedTotal > shownFailures) out.say(`… and ${failedTotal - shownFailures} more`)
        for (const { field, devices, example } of overwritten) {
          const { deviceId, before, after } = example
          out.say(
            `overwrites ${field} of ${devices}, for example ${deviceId}: ${before} -> ${after ?? 'none'}`,
          )
        }
        out.show(
          result,
          () =>
            `${dryRun ? 'dry run: ' : ''}${created} created, ${updated} updated, ${unchanged} unchanged, ${failedTotal} failed`,
        )
        return failedTotal === 0 ? exitCode.ok : exitCode.validation
      }),
    )
}

/** The client pulls lines in batches, each when the one before has been sent. */
function* counted(lines: readonly string[], onProgress?: OnProgress): Generator<string> {
  for (const [at, line] of lines.entries()) {
    onProgress?.(at, lines.length)
    yield line
  }
}
