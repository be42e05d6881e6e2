// jobcast executions: one job on one device each.

import { type Command, Option } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { execStates, stateOf } from '../flags/states.ts'
import { waitMs } from '../flags/wait-time.ts'
import { idNumber, wholeNumber } from '../flags/whole-number.ts'
import { type ListFlags, listExecutions, showExecution, showHistory } from '../output/show-executions.ts'
import { watchExecution } from '../watch/watch-execution.ts'
import { writeOutput } from '../watch/write-output.ts'
import { retryRun } from './runs.ts'
import { type WaitFlags, waitOptions } from './trigger.ts'

export function executionsCommand(): Command {
  const toSee = [getCommand(), historyCommand(), outputCommand(), watchCommand()]
  const toDo = [cancelCommand(), retryCommand()]
  return groupCommand('executions', lsCommand(), ...toSee, ...toDo).addHelpText(
    'after',
    '\nExample:\n  jobcast executions --run 12 --state FAILED\n',
  )
}

function lsCommand(): Command {
  return ownerCommand('ls')
    .description('List executions, newest first; also without "ls".')
    .option('--job <name>', 'only those of this job')
    .option('-d, --device <id>', 'only those on this device')
    .addOption(
      new Option('--state <state>', 'only those in this state').choices(execStates).argParser(stateOf),
    )
    .option('--run <runId>', 'only those of this run', idNumber)
    .option('--limit <number>', 'how many at most', wholeNumber(1), 50)
    .addHelpText('after', '\nExample:\n  jobcast executions ls --job restart --state FAILED\n')
    .action(withClient((context, flags: ListFlags) => listExecutions(context, flags)))
}

function getCommand(): Command {
  return executionCommand('get')
    .description('Show an execution, and why it is where it is.')
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
    .description('List the steps of an execution: when, who, why.')
    .addHelpText('after', '\nExample:\n  jobcast executions history 34\n')
    .action(
      withClient(async ({ client, out }, id: number) =>
        showHistory(out, (await client.executions.history(id)).items),
      ),
    )
}

function watchCommand(): Command {
  return executionCommand('watch')
    .description('Follow an execution to its end; the exit code tells how it ended.')
    .option('--timeout <time>', 'no longer than this (10m, 90s): ends with 7', waitMs)
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
    .option('--force', 'without waiting for the device to confirm')
    .addHelpText('after', '\nExample:\n  jobcast executions cancel 34\n')
    .action(
      withClient(async ({ client, out }, id: number, { force }: { force?: boolean }) =>
        showExecution(out, await client.executions.cancel(id, { force })),
      ),
    )
}

function retryCommand(): Command {
  const command = executionCommand('retry').description('Trigger its job again on its device.')
  for (const option of waitOptions()) command.addOption(option)
  return command.addHelpText('after', '\nExample:\n  jobcast executions retry 34 --wait\n').action(
    withClient(async (context, id: number, flags: WaitFlags) => {
      const { runId, deviceId } = await context.client.executions.get(id)
      return retryRun(context, runId, [deviceId], flags)
    }),
  )
}

function outputCommand(): Command {
  return executionCommand('output')
    .description('Print what the device wrote, as it wrote it.')
    .option('-f, --follow', 'stay until the execution has ended')
    .option('--attempt <number>', 'of this attempt (default: the newest)', wholeNumber(1))
    .addHelpText('after', '\nExample:\n  jobcast executions output 34 -f\n')
    .action(
      withClient((context, id: number, flags: { follow?: boolean; attempt?: number }) =>
        writeOutput(context, id, flags),
      ),
    )
}

function executionCommand(name: string): Command {
  return ownerCommand(name).argument('<jobExecutionId>', 'which execution', idNumber)
}
