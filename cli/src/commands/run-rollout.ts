// jobcast runs pause, resume, advance, approve, deny: the rollout of a run.

import type { Jobcast, Run } from '@jobcast/client'
import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { repeatable } from '../flags/target-devices.ts'
import { idNumber } from '../flags/whole-number.ts'
import type { Out } from '../output/out.ts'

type Flags = { comment?: string; except?: string[] }
type Act = (client: Jobcast, runId: number, flags: Flags) => Promise<Run>

export function rolloutCommands(show: (out: Out, run: Run) => void): Command[] {
  const act = (name: string, description: string, call: Act) =>
    ownerCommand(name)
      .argument('<runId>', 'id of the run', idNumber)
      .description(description)
      .addHelpText('after', `\nExample:\n  jobcast runs ${name} 12\n`)
      .action(
        withClient(async ({ client, out }, runId: number, flags: Flags) =>
          show(out, await call(client, runId, flags)),
        ),
      )
  const commented = (command: Command) =>
    command.option('--comment <text>', 'comment that is recorded with the run')
  return [
    act('pause', 'Pause the rollout of a run; released executions continue.', (client, runId) =>
      client.runs.pause(runId),
    ),
    act(
      'resume',
      'Resume a paused run, and reset the counters of its stop rules.',
      (client, runId, { except }) => client.runs.resume(runId, except ? { except } : {}),
    ).addOption(
      repeatable(
        '--except <device>',
        'resume without this device, whose execution is canceled if it has not started; can be repeated',
      ),
    ),
    act(
      'advance',
      'Start the next wave of a run now, or ask for its approval if its gate needs one.',
      (client, runId) => client.runs.advance(runId),
    ),
    commented(
      act(
        'approve',
        'Approve a run that somebody else has created, changed and fired.',
        (client, runId, { comment }) => client.runs.approve(runId, comment === undefined ? {} : { comment }),
      ),
    ),
    commented(
      act(
        'deny',
        'Deny a run that somebody else has created, changed and fired.',
        (client, runId, { comment }) => client.runs.deny(runId, comment === undefined ? {} : { comment }),
      ),
    ),
  ]
}
