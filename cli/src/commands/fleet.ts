// jobcast fleet: freeze all devices, for example before a holiday.

import type { Freeze } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { instantAhead } from '../flags/duration.ts'
import { localTime } from '../output/local-time.ts'
import { whoWithId } from '../output/maker-text.ts'
import type { Out } from '../output/out.ts'
import { fieldsText } from '../output/print-table.ts'

export function fleetCommand(): Command {
  return groupCommand('fleet', statusCommand(), freezeCommand(), unfreezeCommand()).addHelpText(
    'after',
    '\nExample:\n  jobcast fleet freeze --reason "No changes before Christmas" --until 2026-12-27\n',
  )
}

function statusCommand(): Command {
  return ownerCommand('status')
    .description('Show whether the fleet is frozen, and why (default).')
    .action(withClient(async ({ client, out }) => showFreeze(out, await client.fleet.getFreeze())))
}

function freezeCommand(): Command {
  return ownerCommand('freeze')
    .description('Stop offering work to devices; running executions continue.')
    .requiredOption('--reason <text>', 'reason, shown to everybody who views the fleet')
    .option(
      '--until <time>',
      'when the freeze ends automatically: a date, a time, or a duration such as 12h',
      instantAhead,
    )
    .action(
      withClient(async ({ client, out }, { reason, until }: { reason: string; until?: string }) =>
        showFreeze(out, await client.fleet.freeze({ reason, ...(until !== undefined && { until }) })),
      ),
    )
}

function unfreezeCommand(): Command {
  return ownerCommand('unfreeze')
    .description('Start offering work to devices again.')
    .action(
      withClient(async ({ client, out }) => {
        await client.fleet.unfreeze()
        out.say('The fleet is not frozen.')
      }),
    )
}

function showFreeze(out: Out, freeze: Freeze): void {
  const { frozen, reason, frozenBy, frozenByName, since, until } = freeze
  out.show(freeze, () =>
    fieldsText(
      {
        frozen: frozen ? 'yes' : 'no',
        ...(frozen && {
          reason,
          by: whoWithId(frozenBy, frozenByName),
          since: since && localTime(since),
          until: until && localTime(until),
        }),
      },
      out.paint,
    ),
  )
}
