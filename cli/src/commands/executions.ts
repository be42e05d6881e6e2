// jobcast executions: an execution is one job on one device.

import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { choicesOption } from '../flags/choice.ts'
import { instantBack } from '../flags/duration.ts'
import { execStates } from '../flags/states.ts'
import { waitMs } from '../flags/wait-time.ts'
import { idNumber, wholeNumber } from '../flags/whole-number.ts'
import { type ListFlags, listExecutions, showExecution, showHistory } from '../output/show-executions.ts'
import { watchExecution } from '../watch/watch-execution.ts'
import { type OutputFlags, writeOutput } from '../watch/write-output.ts'
import { retryRun } from './runs.ts'
import { rawOption, type WaitFlags, waitOptions } from './trigger.ts'

export function executionsCommand(): Command {
  const readers = [getCommand(), historyCommand(), outputCommand(), watchCommand()]
  const actions = [cancelCommand(), retryCommand()]
  return groupCommand('executions', lsCommand(), ...readers, ...actions).addHelpText(
    'after',
    '\nExample:\n  jobcast executions --run 12 --state FAILED\n',
  )
}

function lsCommand(): Command {
  return ownerCommand('ls')
    .description('List executions, newest first (default).')
    .option('--job <name>', 'only executions of this job')
    .option('-d, --device <id>', 'only executions on this device')
    .addOption(choicesOption('--state <states>', 'only executions in one of these states', execStates))
    .option('--run <runId>', 'only executions of this run', idNumber)
    .option('--since <time>', 'only executions launched since then (2h, 2027-01-31)', instantBack)
    .option('--finished-since <time>', 'only executions that ended since then', instantBack)
    .option('--limit <number>', 'maximum number of results', wholeNumber(1), 50)
    .addHelpText('after', '\nExample:\n  jobcast executions ls --job restart --state FAILED\n')
    .action(withClient((context, flags: ListFlags) => listExecutions(context, flags)))
}

function getCommand(): Command {
  return executionCommand('get')
    .description('Show an execution, and explain its state.')
    .addHelpText('after', '\nExample:\n  jobcast executions get 34\n')
    .action(
      withClient(async ({ client, out }, id: number) => {
        const [execution, explanation] = await Promise.all([
          client.executions.get(id),
          client.executions.explain(id),
        ])
        showExecution(out, execution, explanation)
      }),
    )
}

function historyCommand(): Command {
  return executionCommand('history')
    .description('List the state changes of an execution: when, by whom, why.')
    .addHelpText('after', '\nExample:\n  jobcast executions history 34\n')
    .action(
      withClient(async ({ client, out }, id: number) => {
        const [{ items }, execution] = await Promise.all([
          client.executions.history(id),
          client.executions.get(id),
        ])
        showHistory(out, items, execution)
      }),
    )
}

function watchCommand(): Command {
  return executionCommand('watch')
    .description('Follow an execution until it ends; exits with 6 unless it SUCCEEDED.')
    .option('--timeout <time>', 'stop waiting after this time (10m, 90s) and exit with 7', waitMs)
    .addHelpText('after', '\nExample:\n  jobcast executions watch 34\n')
    .action(
      withClient((context, id: number, { timeout }: { timeout?: number }) =>
        watchExecution(context, id, timeout),
      ),
    )
}

function cancelCommand(): Command {
  return executionCommand('cancel')
    .description('Cancel an execution.')
    .option('--force', 'do not wait for the device to confirm')
    .addHelpText('after', '\nExample:\n  jobcast executions cancel 34\n')
    .action(
      withClient(async ({ client, out }, id: number, { force }: { force?: boolean }) =>
        showExecution(out, await client.executions.cancel(id, { force })),
      ),
    )
}

function retryCommand(): Command {
  const command = executionCommand('retry').description('Trigger the job again on the same device.')
  for (const option of waitOptions()) command.addOption(option)
  return command.addHelpText('after', '\nExample:\n  jobcast executions retry 34 --wait\n').action(
    withClient(async (context, id: number, flags: WaitFlags) => {
      const { runId, deviceId } = await context.client.executions.get(id)
      return retryRun(context, runId, { deviceIds: [deviceId] }, flags)
    }),
  )
}

function outputCommand(): Command {
  return executionCommand('output')
    .description('Print the output of an execution.')
    .option('-f, --follow', 'keep printing until the execution has ended')
    .option('--attempt <number>', 'output of this attempt (default: the latest)', wholeNumber(1))
    .addOption(rawOption())
    .addHelpText('after', '\nExample:\n  jobcast executions output 34 -f\n')
    .action(withClient((context, id: number, flags: OutputFlags) => writeOutput(context, id, flags)))
}

function executionCommand(name: string): Command {
  return ownerCommand(name).argument('<jobExecutionId>', 'id of the execution', idNumber)
}
