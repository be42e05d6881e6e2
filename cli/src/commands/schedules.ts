// jobcast schedules: schedules start runs automatically.

import type { Occurrence, Schedule } from '@jobcast/client'
import { whoInWords } from '@jobcast/contract/words'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { resourceCommands } from '../define/resource-commands.ts'
import { wholeNumber } from '../flags/whole-number.ts'
import { approvalText } from '../output/approval-text.ts'
import { failingText } from '../output/failing-text.ts'
import { localTime } from '../output/local-time.ts'
import { whoWithId } from '../output/maker-text.ts'
import type { Column } from '../output/print-table.ts'
import { zonedTime } from '../output/zoned-time.ts'
import { putScheduleCommand } from './schedule-put.ts'

const schedules = resourceCommands('schedules')

export function schedulesCommand(): Command {
  return groupCommand(
    'schedules',
    schedules.ls([
      { title: 'SCHEDULE', of: ({ scheduleName }) => scheduleName },
      { title: 'JOB', of: ({ jobName }) => jobName },
      { title: 'DEVICES', of: targetsText },
      { title: 'WHEN', of: whenText },
      {
        title: 'NEXT',
        of: ({ paused, failing, nextAt }) => (failing ? 'failing' : paused ? 'paused' : localTime(nextAt)),
        paint: (text, { paused, failing }, paint) =>
          failing ? paint('red', text) : paused ? paint('yellow', text) : text,
      },
      { title: 'LAST RUN', of: ({ lastRunId }) => lastRunId },
      { title: 'BY', of: updaterText },
    ]),
    schedules.get((schedule) => ({ fields: fieldsOf(schedule) })),
    putScheduleCommand(),
    nextCommand(),
    switchCommand('pause', 'Pause a schedule: it creates no runs until it is resumed.', 'Paused'),
    switchCommand('resume', 'Resume a schedule, from its next occurrence on.', 'Resumed'),
    fireCommand(),
    schedules.rm('The runs that it has created continue.'),
  ).addHelpText(
    'after',
    "\nExample:\n  jobcast schedules put nightly --job collect-logs --group kiosks --cron '0 3 * * 1-5' --zone Europe/Berlin\n",
  )
}

function fieldsOf(schedule: Schedule) {
  const { when, paused, pausedBecause, rollout, pauseAfterFailures, until } = schedule
  const pausedBy = whoInWords(schedule.pausedBy, schedule.pausedByName)
  return {
    schedule: schedule.scheduleName,
    description: schedule.description,
    job: schedule.jobName,
    devices: targetsText(schedule),
    when: whenText(schedule),
    ...(when.again === 'WHILE_MATCHING' && { backOff: `${when.backOffSeconds} s, doubled each time` }),
    ...(when.onLeave && { onLeave: 'pending executions are canceled' }),
    next: localTime(schedule.nextAt),
    ...(paused && { paused: `${localTime(schedule.pausedAt)} by ${pausedBy}: ${pausedBecause}` }),
    ...(schedule.failing && { failing: failingText(schedule.failing) }),
    overlap: schedule.overlap,
    catchUp: `${schedule.catchUpSeconds} s`,
    ...(schedule.jitterSeconds > 0 && { jitter: `up to ${schedule.jitterSeconds} s` }),
    ...(pauseAfterFailures !== null && { failures: `${schedule.failures} of ${pauseAfterFailures}` }),
    ...(schedule.except.length > 0 && { except: schedule.except.join(', ') }),
    ...(until !== null && { until: localTime(until) }),
    ...(rollout && { rollout: JSON.stringify(rollout) }),
    ...(schedule.approval && { approval: approvalText(schedule.approval) }),
    ...(schedule.window !== null && { window: schedule.window }),
    ...(schedule.priority !== null && { priority: schedule.priority }),
    ...(schedule.replaces && { replaces: 'pending executions of the same job' }),
    lastRun: schedule.lastRunId,
    lastFired: localTime(schedule.lastFiredAt),
    updated: `${localTime(schedule.updatedAt)} by ${updaterText(schedule)}`,
  }
}

/** Marks a key that is no longer active: the schedule continues without it. */
function updaterText({ updatedBy, updatedByName, updatedByState }: Schedule): string | null {
  const isActive = updatedByState === null || updatedByState === 'ACTIVE'
  return whoWithId(updatedBy, updatedByName, ...(isActive ? [] : [updatedByState.toLowerCase()]))
}

function nextCommand(): Command {
  return ownerCommand('next')
    .description('List the next occurrences of a schedule.')
    .argument('<scheduleName>')
    .option('--count <number>', 'how many (default 10, at most 100)', wholeNumber(1))
    .action(
      withClient(async ({ client, out }, name: string, { count }: { count?: number }) => {
        const occurrences = await client.schedules.next(name, count === undefined ? {} : { count })
        out.showTable(occurrences, occurrenceColumns)
      }),
    )
}

const occurrenceColumns: Column<Occurrence>[] = [
  { title: 'AT (UTC)', of: ({ at }) => zonedTime(at) },
  { title: 'IN ITS TIME ZONE', of: ({ local }) => zonedTime(local) },
]

function switchCommand(name: 'pause' | 'resume', description: string, done: string): Command {
  return ownerCommand(name)
    .description(description)
    .argument('<scheduleName>')
    .action(
      withClient(async ({ client, out }, scheduleName: string) => {
        const schedule = await client.schedules[name](scheduleName)
        out.say(`${done} schedule ${scheduleName}.`)
        out.show(schedule, () => '')
      }),
    )
}

function fireCommand(): Command {
  return ownerCommand('fire')
    .description('Create a run of a schedule now, in addition to its occurrences.')
    .argument('<scheduleName>')
    .action(
      withClient(async ({ client, out }, name: string) => {
        const run = await client.schedules.fire(name)
        out.say(`Run ${run.runId}: ${run.jobName} on ${run.total} ${run.total === 1 ? 'device' : 'devices'}`)
        out.show(run, () => '')
      }),
    )
}

function targetsText({ targets: { deviceIds, where, group } }: Schedule): string {
  if (group !== undefined) return `group ${group}`
  if (where !== undefined) return where
  const [first, ...others] = deviceIds ?? []
  return others.length === 0 ? (first ?? '') : `${first} and ${others.length} more`
}

function whenText({ when: { cron, timeZone, at, again } }: Schedule): string {
  if (cron !== undefined) return `${cron} in ${timeZone ?? 'UTC'}`
  if (at !== undefined) return `at ${localTime(at)}`
  if (again === 'WHILE_MATCHING') return 'as long as a device matches'
  return again === undefined
    ? 'as soon as a device matches'
    : 'as soon as a device matches, and on each new version'
}
