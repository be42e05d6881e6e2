// `ls`, the same for every kind of resource.

import type { Jobcast, List } from '@jobcast/client'
import type { Command } from 'commander'
import { wholeNumber } from '../flags/whole-number.ts'
import type { Column } from '../output/print-table.ts'
import { takeItems } from '../service/take-items.ts'
import { ownerCommand, withClient } from './owner-command.ts'

/** Lists everything by default. */
export function listCommand<T, Flags extends object = object>(
  columns: readonly Column<T>[],
  list: (client: Jobcast, flags: Flags) => List<T>,
): Command {
  return ownerCommand('ls')
    .option('--limit <number>', 'maximum number of results (default: all)', wholeNumber(1))
    .action(
      withClient(async ({ client, out }, flags: Flags & { limit?: number }) => {
        const { items, hasMore } = await takeItems(
          list(client, flags),
          flags.limit ?? Number.POSITIVE_INFINITY,
        )
        out.showTable(items, columns)
        if (hasMore) out.say('More results exist; raise --limit to see them.')
      }),
    )
}
