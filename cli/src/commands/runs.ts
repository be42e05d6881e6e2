// jobcast runs: a run is all executions of one trigger call.

import type { RetryRequest, Run } from '@jobcast/client'
import { type RetryVersion, type RolloutState, retryVersions, rolloutStates } from '@jobcast/contract/words'
import { type Command, Option } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { type OwnerContext, ownerCommand, withClient } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { choiceOption, choicesOption } from '../flags/choice.ts'
import { instantBack } from '../flags/duration.ts'
import { type RolloutFlags, rolloutOf, rolloutOptions } from '../flags/rollout-options.ts'
import { execStates } from '../flags/states.ts'
import { repeatable } from '../flags/target-devices.ts'
import { waitMs } from '../flags/wait-time.ts'
import { idNumber, wholeNumber } from '../flags/whole-number.ts'
import { approvalFields } from '../output/approval-text.ts'
import { failingText } from '../output/failing-text.ts'
import { localTime } from '../output/local-time.ts'
import { whoWithId } from '../output/maker-text.ts'
import type { Out } from '../output/out.ts'
import { type Column, fieldsText } from '../output/print-table.ts'
import { countsText } from '../output/progress.ts'
import { progressFields, rolloutCell } from '../output/rollout-text.ts'
import type { ListFlags as ExecutionListFlags } from '../output/show-executions.ts'
import { maxPageSize, takeItems } from '../service/take-items.ts'
import { nextSteps, watchRun } from '../watch/watch-run.ts'
import { failuresCommand } from './run-failures.ts'
import { rolloutCommands } from './run-rollout.ts'
import { type WaitFlags, waitOptions } from './trigger.ts'

const plain = (_: string, text: string) => text

export function runsCommand(): Command {
  const others = [
    getCommand(),
    watchCommand(),
    failuresCommand(),
    cancelCommand(),
    retryCommand(),
    rollbackCommand(),
    ...rolloutCommands(showRun),
  ]
  return groupCommand('runs', lsCommand(), ...others).addHelpText(
    'after',
    '\nExample:\n  jobcast runs --job restart --limit 5\n',
  )
}

type ListFlags = Omit<ExecutionListFlags, 'device' | 'run'> & { rolloutState?: RolloutState }

function lsCommand(): Command {
  return ownerCommand('ls')
    .description('List runs, newest first (default).')
    .option('--job <name>', 'only runs of this job')
    .addOption(
      choicesOption('--state <states>', 'only runs that have executions in these states', execStates),
    )
    .addOption(
      choiceOption('--rollout-state <state>', 'only runs whose rollout is in this state', rolloutStates),
    )
    .option('--since <time>', 'only runs launched since then (2h, 2027-01-31)', instantBack)
    .option('--finished-since <time>', 'only runs that finished since then', instantBack)
    .option('--limit <number>', 'maximum number of results', wholeNumber(1), 20)
    .addHelpText('after', '\nExample:\n  jobcast runs ls --job restart\n')
    .action(
      withClient(async ({ client, out }, flags: ListFlags) => {
        const { job, state, rolloutState, since, finishedSince, limit } = flags
        const list = client.runs.list({
          jobName: job,
          execState: state,
          rolloutState,
          launchedAfter: since,
          finishedAfter: finishedSince,
          limit: Math.min(limit, maxPageSize),
        })
        const { items, hasMore } = await takeItems(list, limit)
        out.showTable(items, runColumns)
        if (hasMore) out.say(`More runs exist; raise --limit (${limit}) to see them.`)
      }),
    )
}

function getCommand(): Command {
  return runCommand('get')
    .description('Show a run.')
    .addHelpText('after', '\nExample:\n  jobcast runs get 12\n')
    .action(withClient(async ({ client, out }, runId: number) => showRun(out, await client.runs.get(runId))))
}

function watchCommand(): Command {
  return runCommand('watch')
    .description(
      'Follow a run until it has finished; exits with 6 unless all executions SUCCEEDED, 9 if it waits for approval, 10 if it is paused.',
    )
    .option('--timeout <time>', 'stop waiting after this time (10m, 90s) and exit with 7', waitMs)
    .addHelpText('after', '\nExample:\n  jobcast runs watch 12\n')
    .action(
      withClient((context, runId: number, { timeout }: { timeout?: number }) =>
        watchRun(context, runId, { timeoutMs: timeout }),
      ),
    )
}

function cancelCommand(): Command {
  return runCommand('cancel')
    .description('Cancel the unfinished executions of a run.')
    .option('--force', 'do not wait for the devices to confirm')
    .addHelpText('after', '\nExample:\n  jobcast runs cancel 12\n')
    .action(
      withClient(async ({ client, out }, runId: number, { force }: { force?: boolean }) =>
        showRun(out, await client.runs.cancel(runId, { force })),
      ),
    )
}

function retryCommand(): Command {
  const command = runCommand('retry')
    .description('Trigger the job again on the devices whose executions were unsuccessful.')
    .addOption(repeatable('-d, --device <id>', 'only on this device; can be repeated'))
    .addOption(
      choiceOption(
        '--version <which>',
        'version of the job: the version of the run (default), or the newest',
        retryVersions,
      ),
    )
  for (const option of [...releaseOptions(), ...waitOptions()]) command.addOption(option)
  return command.addHelpText('after', '\nExample:\n  jobcast runs retry 12 --wait\n').action(
    withClient((context, runId: number, { device, version, wait, timeout, ...release }: RetryFlags) => {
      const named = { ...(device && { deviceIds: device }), ...(version && { version }) }
      const request = { ...named, ...releaseOf(release) }
      return retryRun(context, runId, request, { ...(wait && { wait }), ...(timeout && { timeout }) })
    }),
  )
}

type ReleaseFlags = Omit<RolloutFlags, 'approval' | 'approvals'> & { allAtOnce?: boolean }
type RetryFlags = WaitFlags & ReleaseFlags & { device?: string[]; version?: RetryVersion }
type RollbackFlags = WaitFlags &
  Omit<ReleaseFlags, 'allAtOnce'> & {
    to?: number
    device?: string[]
    where?: string
    note?: string
    again?: boolean
  }

/** Options of a run that repeats another; by default it uses the rollout of that run. */
function releaseOptions(): Option[] {
  const options = rolloutOptions().filter(({ long }) => long !== '--approval' && long !== '--approvals')
  return [new Option('--all-at-once', 'release it to all devices at once'), ...options]
}

function releaseOf({ allAtOnce, ...flags }: ReleaseFlags): Pick<RetryRequest, 'rollout'> {
  return allAtOnce ? { rollout: {} } : rolloutOf(flags)
}

function rollbackCommand(): Command {
  const command = runCommand('rollback')
    .description(
      'Stop a run, and run an earlier version of the job on all devices that it was released to, at once by default.',
    )
    .option(
      '--to <version>',
      'version of the job (default: the one before the version of the run)',
      wholeNumber(1),
    )
    .addOption(repeatable('-d, --device <id>', 'only this device; can be repeated'))
    .option('--where <selector>', 'only devices that match this selector')
    .option('--note <text>', 'reason, stored with the run')
    .option('--again', 'even if the run was rolled back before')
  const release = releaseOptions().filter(({ long }) => long !== '--all-at-once')
  for (const option of [...release, ...waitOptions()]) command.addOption(option)
  return command.addHelpText('after', '\nExample:\n  jobcast runs rollback 12 --wait\n').action(
    withClient(async (context, runId: number, flags: RollbackFlags) => {
      const { to, device, where, note, again, wait, timeout, ...release } = flags
      const request = {
        ...(to !== undefined && { toVersion: to }),
        ...(device && { deviceIds: device }),
        ...(where !== undefined && { where }),
        ...(note !== undefined && { note }),
        ...(again && { again }),
        ...releaseOf(release),
      }
      const made = await context.client.runs.rollback(runId, request)
      return followNew(context, made, { ...(wait && { wait }), ...(timeout && { timeout }) })
    }),
  )
}

/** Starts the new run, and waits for it if requested. Without devices, it retries all unsuccessful ones. */
export async function retryRun(
  context: OwnerContext,
  runId: number,
  request: RetryRequest,
  wait: WaitFlags,
): Promise<ExitCode> {
  return followNew(context, await context.client.runs.retry(runId, request), wait)
}

async function followNew(context: OwnerContext, run: Run, { wait, timeout }: WaitFlags): Promise<ExitCode> {
  const { out } = context
  out.say(`Run ${run.runId}: ${run.jobName} on ${run.total} ${run.total === 1 ? 'device' : 'devices'}`)
  if (wait || timeout !== undefined) return watchRun(context, run.runId, { timeoutMs: timeout })
  out.say(nextSteps(run.runId))
  showRun(out, run)
  return exitCode.ok
}

function runCommand(name: string): Command {
  return ownerCommand(name).argument('<runId>', 'id of the run', idNumber)
}

function showRun(out: Out, run: Run): void {
  const { runId, jobName, launchedAt, total, counts, finished, finishedAt, retryOf, rollout, window } = run
  const by = whoWithId(run.createdBy, run.createdByName)
  out.show(run, () =>
    fieldsText(
      {
        run: runId,
        job: jobName,
        version: run.version,
        ...(Object.keys(run.parameters).length > 0 && { parameters: JSON.stringify(run.parameters) }),
        launched: localTime(launchedAt),
        executions: total,
        states: countsText(counts, plain),
        finished: finishedAt === null ? (finished ? 'yes' : 'no') : localTime(finishedAt),
        ...(by !== null && { by }),
        ...(retryOf !== null && { 'retry of': retryOf }),
        ...(run.rollbackOf !== null && { 'rollback of': run.rollbackOf }),
        ...(rollout && rolloutFields(rollout, total)),
        ...approvalFields(run),
        ...(window !== null && { window }),
        ...(run.priority !== 5 && { priority: run.priority }),
        ...(run.replaces && { replaces: 'pending executions of the same job' }),
      },
      out.paint,
    ),
  )
}

const stoppedWords: Partial<Record<RolloutState, string>> = { DENIED: 'denied by', ABORTED: 'aborted by' }

function rolloutFields(rollout: NonNullable<Run['rollout']>, total: number) {
  const { state, wave, waves, released, pausedBecause, failing } = rollout
  return {
    rollout: `${state}, wave ${wave} of ${waves.length}, ${released} of ${total} released`,
    ...(pausedBecause !== null && {
      because: pausedBecause,
      [stoppedWords[state] ?? 'paused by']: whoWithId(rollout.pausedBy, rollout.pausedByName),
    }),
    ...progressFields(rollout),
    ...(failing && { failing: failingText(failing) }),
  }
}

const runColumns: Column<Run>[] = [
  { title: 'RUN', of: ({ runId }) => runId },
  { title: 'JOB', of: ({ jobName }) => jobName },
  { title: 'LAUNCHED', of: ({ launchedAt }) => localTime(launchedAt) },
  { title: 'TOTAL', of: ({ total }) => total },
  { title: 'FINISHED', of: ({ finished }) => (finished ? 'yes' : 'no') },
  { title: 'ROLLOUT', of: rolloutCell },
  {
    title: 'STATES',
    of: ({ counts }) => countsText(counts, plain),
    paint: (_, { counts }, paint) => countsText(counts, paint),
  },
]
