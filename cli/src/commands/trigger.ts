// jobcast trigger: a job on devices.

import type { TriggeredExecution } from '@jobcast/client'
import { type Command, Option } from 'commander'
import { type OwnerContext, ownerCommand, withClient } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { type TargetFlags, targetDevices, targetOptions } from '../flags/target-devices.ts'
import { waitMs } from '../flags/wait-time.ts'
import { paintState } from '../output/colors.ts'
import type { Column } from '../output/print-table.ts'
import { mostFollowed } from '../watch/follow-outputs.ts'
import { howToGoOn, watchRun } from '../watch/watch-run.ts'

type TriggerFlags = TargetFlags & WaitFlags & { follow?: boolean; idempotencyKey?: string }

export type WaitFlags = { wait?: boolean; timeout?: number }

export function triggerCommand(): Command {
  const command = ownerCommand('trigger').argument('<job>', 'the name of the job')
  for (const option of [...targetOptions(), ...waitOptions()]) command.addOption(option)
  return command
    .option('-f, --follow', `wait, and show what up to ${mostFollowed} devices write meanwhile`)
    .option('--idempotency-key <text>', 'the same key again within a day triggers nothing twice')
    .addHelpText('after', '\nExample:\n  jobcast trigger restart --tag berlin --wait --timeout 10m\n')
    .action(withClient(trigger))
}

export function waitOptions(): Option[] {
  return [
    new Option('-w, --wait', 'until the run has finished; ends with 6 unless all SUCCEEDED'),
    new Option('--timeout <time>', 'wait, but no longer than this (10m, 90s): ends with 7').argParser(waitMs),
  ]
}

async function trigger(context: OwnerContext, jobName: string, flags: TriggerFlags): Promise<ExitCode> {
  const { client, out } = context
  const { follow, timeout, idempotencyKey } = flags
  const deviceIds = await targetDevices(context, flags)
  if (follow && deviceIds.length > mostFollowed)
    throw new UsageError(
      `--follow shows up to ${mostFollowed} devices, these are ${deviceIds.length}; use --wait, and afterwards: jobcast executions output`,
    )
  const { runId, executions } = await client.trigger({ jobName, deviceIds }, { idempotencyKey })
  out.say(
    `Run ${runId}: ${jobName} on ${executions.length} ${executions.length === 1 ? 'device' : 'devices'}`,
  )
  if (flags.wait || follow || timeout !== undefined)
    return watchRun(context, runId, { timeoutMs: timeout, follow: follow ? executions : [] })
  out.say(howToGoOn(runId))
  if (out.json) out.show({ runId, executions }, () => '')
  else out.showTable(executions, triggeredColumns)
  return exitCode.ok
}

const triggeredColumns: Column<TriggeredExecution>[] = [
  { title: 'EXECUTION', of: ({ jobExecutionId }) => jobExecutionId },
  { title: 'DEVICE', of: ({ deviceId }) => deviceId },
  { title: 'NAME', of: ({ deviceName }) => deviceName },
  {
    title: 'STATE',
    of: ({ execState }) => execState,
    paint: (text, { execState }, paint) => paintState(paint, execState, text),
  },
]
