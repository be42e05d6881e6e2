// jobcast trigger: triggers a job on devices.

import { isJobcastError, type NewRun, type Run, type RunPlan, type TriggeredExecution } from '@jobcast/client'
import { type Command, Option } from 'commander'
import { type OwnerContext, ownerCommand, withClient } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { NothingFound, UsageError } from '../errors/usage-error.ts'
import { instantAhead } from '../flags/duration.ts'
import { givenFlags } from '../flags/given-flags.ts'
import {
  declaredTypes,
  type ParameterFlags,
  parameterOptions,
  parametersOf,
} from '../flags/parameter-options.ts'
import { priorityOption } from '../flags/priority-option.ts'
import { type RolloutFlags, rolloutOf, rolloutOptions } from '../flags/rollout-options.ts'
import { selectedTargets, type TargetFlags, targetDevices, targetOptions } from '../flags/target-devices.ts'
import { waitMs } from '../flags/wait-time.ts'
import { paintState } from '../output/colors.ts'
import type { Out } from '../output/out.ts'
import { type Column, fieldsText } from '../output/print-table.ts'
import { ruleFields } from '../output/rollout-text.ts'
import { maxFollowed } from '../watch/follow-outputs.ts'
import { holdText } from '../watch/held-run.ts'
import { nextSteps, watchRun } from '../watch/watch-run.ts'

type TriggerFlags = TargetFlags &
  RolloutFlags &
  WindowFlags &
  ParameterFlags &
  WaitFlags & {
    follow?: boolean
    raw?: boolean
    idempotencyKey?: string
    note?: string
    dryRun?: boolean
    startAt?: string
    priority?: number
    plan?: string
    replaces?: boolean
  }

type Rollout = NonNullable<NewRun['rollout']>

/** Executions of a larger run are not listed: "jobcast executions ls" has them. */
const maxListed = 1000

type WindowFlags = { window?: string; ignoreWindows?: boolean }

export type WaitFlags = { wait?: boolean; timeout?: number }

export function triggerCommand(): Command {
  const command = ownerCommand('trigger').argument('[job]', 'name of the job')
  const options = [...targetOptions(), ...parameterOptions(), ...rolloutOptions(), ...waitOptions()]
  for (const option of options) command.addOption(option)
  return command
    .option('-f, --follow', `wait, and print the output of up to ${maxFollowed} devices`)
    .addOption(rawOption())
    .option(
      '--idempotency-key <text>',
      'repeating the call with the same key within a day returns the same run',
    )
    .option(
      '--window <name>',
      'offer it to devices only while this window is open (default: the window of the job)',
    )
    .option(
      '--ignore-windows',
      'offer it at any time, even outside the window of the job; requires --note and MANAGE',
    )
    .addOption(priorityOption('that of the job'))
    .option('--replaces', 'cancel pending executions of the same job on these devices')
    .option('--note <text>', 'note that is stored with the run, for example the reason')
    .option('--start-at <time>', 'release nothing before this time (2027-01-31T03:00:00Z, 2h)', instantAhead)
    .option('--dry-run', 'show what would be triggered without creating anything, as a plan')
    .option('--plan <planId>', 'start exactly what --dry-run showed, once, within 10 minutes')
    .addHelpText(
      'after',
      '\nExamples:\n  jobcast trigger restart --tag berlin --wait --timeout 10m\n' +
        "  jobcast trigger update --where 'tag=kiosk and fw<2.4.0' --dry-run\n" +
        '  jobcast trigger --plan pMx3hIbZ2vUUoiXWqDTTEg --wait\n' +
        '  jobcast trigger install --tag berlin --param version=2.4.1\n' +
        '  jobcast trigger update --group kiosks --canary 5 --waves 10%,100% --soak 1h --stop-at 5%\n',
    )
    .action(withClient(trigger))
}

export function rawOption(): Option {
  return new Option('--raw', 'print output unfiltered on a terminal (default: text and colors only)')
}

export function waitOptions(): Option[] {
  return [
    new Option(
      '-w, --wait',
      'wait until the run has finished; exits with 6 unless all executions SUCCEEDED, 10 if it is paused',
    ),
    new Option('--timeout <time>', 'wait, but at most this long (10m, 90s), then exit with 7').argParser(
      waitMs,
    ),
  ]
}

async function trigger(
  context: OwnerContext,
  jobName: string | undefined,
  flags: TriggerFlags,
  command: Command,
): Promise<ExitCode> {
  if (flags.plan !== undefined) {
    requireAlone(jobName, command)
    return showRun(context, await context.client.runs.start(flags.plan), flags)
  }
  if (jobName === undefined)
    throw new UsageError('name the job, or use --plan with the planId of a --dry-run')
  const selected = selectedTargets(flags)
  const { startAt, priority, replaces } = flags
  const release = {
    ...rolloutOf(flags),
    ...windowOf(flags),
    ...(await parametersOf(context.io, flags, declaredTypes(context.client, jobName, flags.version))),
    ...(startAt !== undefined && { startAt }),
    ...(priority !== undefined && { priority }),
    ...(replaces && { replaces }),
  }
  const isPlain = flags.note === undefined && !flags.dryRun && Object.keys(release).length === 0
  if (selected || !isPlain) {
    const targets = selected ?? { deviceIds: await targetDevices(context, flags) }
    return triggerRun(context, { jobName, targets, ...release }, flags)
  }
  const { client, out } = context
  const { follow, raw, timeout, idempotencyKey } = flags
  const deviceIds = await targetDevices(context, flags)
  if (follow && deviceIds.length > maxFollowed)
    throw new UsageError(
      `--follow supports up to ${maxFollowed} devices, not ${deviceIds.length}; use --wait, then "jobcast executions output"`,
    )
  const { runId, executions } = await client
    .trigger({ jobName, deviceIds }, { idempotencyKey })
    .catch((error: unknown) => {
      if (!isJobcastError(error, 'J-301')) throw error
      throw new NothingFound(`job ${jobName} not found (J-301). List the jobs: jobcast jobs ls`)
    })
  out.say(
    `Run ${runId}: ${jobName} on ${executions.length} ${executions.length === 1 ? 'device' : 'devices'}`,
  )
  if (flags.wait || follow || timeout !== undefined)
    return watchRun(context, runId, { timeoutMs: timeout, follow: follow ? executions : [], raw })
  await sayWhatIsNext(context, runId, executions[0])
  if (out.json) out.show({ runId, executions }, () => '')
  else out.showTable(executions, triggeredColumns)
  return exitCode.ok
}

function windowOf({ window, ignoreWindows }: WindowFlags): Pick<NewRun, 'window' | 'ignoreWindows'> {
  return { ...(window !== undefined && { window }), ...(ignoreWindows && { ignoreWindows }) }
}

/** Starts a run with options that the plain trigger call does not accept. */
async function triggerRun(context: OwnerContext, request: NewRun, flags: TriggerFlags): Promise<ExitCode> {
  const { client, out } = context
  const { idempotencyKey, note, dryRun } = flags
  const noted = { ...request, ...(note !== undefined && { note }) }
  if (dryRun) return showPlan(out, await client.runs.plan(noted), await rulesOf(context, noted))
  return showRun(context, await client.runs.create(noted, { idempotencyKey }), flags)
}

/** Rejects a job and flags that the plan already defines. */
function requireAlone(jobName: string | undefined, command: Command): void {
  const given = Object.keys(givenFlags(command)).find((name) => !besidePlan.includes(name))
  if (jobName === undefined && given === undefined) return
  const flag = command.options.find((option) => option.attributeName() === given)
  const what = jobName === undefined ? flag?.long : `the job ${jobName}`
  throw new UsageError(`--plan starts exactly what was planned: leave out ${what}`)
}

const besidePlan = [
  ...['plan', 'wait', 'timeout', 'follow', 'raw'],
  ...['url', 'apiKey', 'profile', 'json', 'output'],
]

async function showRun(context: OwnerContext, run: Run, flags: TriggerFlags): Promise<ExitCode> {
  const { client, out } = context
  const { follow, raw, timeout } = flags
  const { runId, jobName, total } = run
  if (follow && total > maxFollowed)
    throw new UsageError(
      `--follow supports up to ${maxFollowed} devices; run ${runId} has ${total} and continues`,
    )
  out.say(`Run ${runId}: ${jobName} on ${total} ${total === 1 ? 'device' : 'devices'}`)
  if (flags.wait || follow || timeout !== undefined) {
    const executions = follow
      ? (await client.executions.list({ runId, limit: maxFollowed }).page()).items
      : []
    return watchRun(context, runId, { timeoutMs: timeout, follow: executions, raw })
  }
  const executions = total > maxListed ? undefined : await executionsOf(context, runId)
  await sayWhatIsNext(context, runId, executions?.[0])
  if (executions === undefined || out.json) out.show({ ...run, ...(executions && { executions }) }, () => '')
  else out.showTable(executions, triggeredColumns)
  return exitCode.ok
}

async function sayWhatIsNext(
  { client, out }: OwnerContext,
  runId: number,
  first: TriggeredExecution | undefined,
): Promise<void> {
  const held = await holdText(client, runId, first)
  if (held !== undefined) out.say(held)
  out.say(nextSteps(runId))
}

/** The executions in the order of their release. Undefined if the key can trigger but not read. */
async function executionsOf(
  { client }: OwnerContext,
  runId: number,
): Promise<TriggeredExecution[] | undefined> {
  const found: TriggeredExecution[] = []
  try {
    for await (const execution of client.executions.list({ runId, limit: 200 })) {
      const { jobExecutionId, jobName, deviceId, deviceName, execState, launchedAt } = execution
      found.push({ jobExecutionId, jobName, deviceId, deviceName, execState, launchedAt })
    }
  } catch (error) {
    if (isJobcastError(error, 'J-804')) return undefined
    throw error
  }
  return found.reverse()
}

/** The rollout of the call, or else of the job. Empty if the key can trigger but not read. */
async function rulesOf({ client }: OwnerContext, { jobName, version, rollout }: NewRun): Promise<Rollout> {
  if (rollout) return rollout
  const job = version === undefined ? client.jobs.get(jobName) : client.jobs.version(jobName, version)
  return (
    (
      await job.catch((error: unknown) => {
        if (isJobcastError(error, 'J-804')) return undefined
        throw error
      })
    )?.rollout ?? {}
  )
}

function showPlan(out: Out, plan: RunPlan, rollout: Rollout): ExitCode {
  out.show(plan, () =>
    fieldsText(
      {
        devices: plan.total,
        online: plan.online,
        offline: plan.offline,
        busy: plan.busy,
        ...(plan.waves.length > 1 && { waves: plan.waves.map(({ size }) => size).join(', ') }),
        ...ruleFields(rollout, plan.waves.length),
        sample: plan.waves.flatMap(({ sample }) => sample).join(', ') || null,
        document: plan.total === 0 ? null : JSON.stringify(plan.document),
        holds: plan.holds.map(({ text }) => text).join(' ') || null,
        problems: plan.problems.join(' ') || null,
        plan: plan.planId,
      },
      out.paint,
    ),
  )
  if (plan.total > 0) out.say(`Start exactly this within 10 minutes: jobcast trigger --plan ${plan.planId}`)
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
