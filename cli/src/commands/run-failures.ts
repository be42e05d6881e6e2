// jobcast runs failures: why executions of a run did not succeed.

import type { RunFailures } from '@jobcast/client'
import { termText } from '@jobcast/contract/selector'
import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { idNumber } from '../flags/whole-number.ts'
import type { Column } from '../output/print-table.ts'

export function failuresCommand(): Command {
  return ownerCommand('failures')
    .argument('<runId>', 'id of the run', idNumber)
    .description('Show why executions of a run did not succeed, and what their devices have in common.')
    .addHelpText('after', '\nExample:\n  jobcast runs failures 12\n')
    .action(
      withClient(async ({ client, out }, runId: number) => {
        const failures = await client.runs.failures(runId)
        const { total, reasons, shared } = failures
        if (total === 0) out.say(`No execution of run ${runId} was unsuccessful.`)
        out.show(failures, () =>
          [
            ...(reasons.length > 0 ? [out.tableOf(reasons, reasonColumns)] : []),
            ...(shared.length > 0 ? [out.tableOf(shared, sharedColumns)] : []),
          ].join('\n\n'),
        )
      }),
    )
}

const shownDevices = 3

const reasonColumns: Column<RunFailures['reasons'][number]>[] = [
  { title: 'COUNT', of: ({ count }) => count },
  { title: 'REASON', of: ({ reason }) => reason },
  {
    title: 'DEVICES',
    of: ({ count, sample }) =>
      [...sample.slice(0, shownDevices), ...(count > shownDevices ? ['…'] : [])].join(', '),
  },
]

const sharedColumns: Column<RunFailures['shared'][number]>[] = [
  { title: 'SHARED', of: ({ name, value }) => termText(name, value) },
  { title: 'UNSUCCESSFUL', of: ({ failed, ofFailed }) => `${failed} of ${ofFailed}` },
  { title: 'SUCCEEDED', of: ({ succeeded, ofSucceeded }) => `${succeeded} of ${ofSucceeded}` },
]
