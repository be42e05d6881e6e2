// jobcast schedules put: creates or updates a schedule.

import type { Jobcast, ScheduleContent } from '@jobcast/client'
import { agains, overlaps } from '@jobcast/contract'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { withClient } from '../define/owner-command.ts'
import { resourceCommands } from '../define/resource-commands.ts'
import { UsageError } from '../errors/usage-error.ts'
import { choiceOption } from '../flags/choice.ts'
import { durationSeconds, instantAhead } from '../flags/duration.ts'
import { declaredTypes, type ParameterFlags, parametersOf, valueOptions } from '../flags/parameter-options.ts'
import { priorityOption } from '../flags/priority-option.ts'
import { type RolloutFlags, rolloutOf, rolloutOptions } from '../flags/rollout-options.ts'
import { repeatable } from '../flags/target-devices.ts'
import { wholeNumber } from '../flags/whole-number.ts'
import { readContent } from '../input/read-content.ts'
import type { Io } from '../io.ts'

type PutFlags = RolloutFlags &
  Pick<ParameterFlags, 'version' | 'param' | 'paramsFile'> & {
    file?: string
    job?: string
    description?: string
    device?: string[]
    where?: string
    group?: string
    tag?: string
    cron?: string
    zone?: string
    except?: string[]
    at?: string
    match?: boolean
    again?: (typeof agains)[number]
    backOff?: number
    onLeave?: 'CANCEL'
    overlap?: (typeof overlaps)[number]
    catchUp?: number
    jitter?: number
    pauseAfter?: number
    end?: string
    window?: string
    priority?: number
    replaces?: boolean
  }

const schedules = resourceCommands('schedules')

/** Windows have a zone `device`; schedules have not. */
function scheduleZone(text: string): string {
  if (text !== 'device') return text
  throw new InvalidArgumentError(
    'A schedule has one time zone. To run in the local time of each device, use --window with a window of "jobcast windows put".',
  )
}

export function putScheduleCommand(): Command {
  const command = schedules
    .put()
    .option('-f, --file <file>', 'YAML or JSON file with the complete schedule; - is standard input')
    .option('--job <jobName>', 'the job it triggers')
    .option('--description <text>', 'what it is for')
    .addOption(repeatable('-d, --device <id>', 'on this device; can be repeated'))
    .option('--where <selector>', 'on all devices that match')
    .option('--group <name>', 'on all devices of this group')
    // As `trigger` has it; the error names --where.
    .addOption(new Option('-t, --tag <tag>').hideHelp())
    .option(
      '--cron <pattern>',
      'minute, hour, day of month, month and day of week, such as "0 3 * * 1-5"; or @daily',
    )
    .option(
      '--zone <timeZone>',
      'time zone of the pattern, such as Europe/Berlin (default UTC)',
      scheduleZone,
    )
    .option('--except <dates...>', 'not on these local dates: 2026-12-24, or 2026-12-24/2027-01-02')
    .option('--at <time>', 'once, at this time, or after a duration such as 2h', instantAhead)
    .option('--match', 'once for every device, as soon as it matches')
    .addOption(
      choiceOption(
        '--again <rule>',
        'with --match: run it again on each new version, or while a device matches',
        agains,
      ),
    )
    .option('--back-off <time>', 'delay before a device gets the job again (1m)', durationSeconds)
    .addOption(
      choiceOption('--on-leave <rule>', 'cancel the pending execution of a device that no longer matches', [
        'CANCEL',
      ]),
    )
    .addOption(
      choiceOption('--overlap <rule>', 'for devices that have not finished the previous execution', overlaps),
    )
    .option('--catch-up <time>', 'how late it may run after the service was down (1h)', durationSeconds)
    .option('--jitter <time>', 'random delay of up to this long for each run (5m)', durationSeconds)
    .option('--pause-after <number>', 'pause it after this many failed runs in a row', wholeNumber(1))
    .option('--end <time>', 'create no runs after this time', instantAhead)
    .option(
      '--window <name>',
      'offer its runs to devices only while this window is open (default: the window of the job)',
    )
    .addOption(priorityOption('that of the job'))
    .option('--replaces', 'its runs cancel pending executions of the same job on their devices')
    .option('--no-replaces', 'its runs cancel nothing')
  for (const option of [...valueOptions(), ...rolloutOptions()]) command.addOption(option)
  return command.addHelpText('after', '\nWithout --file, fields without a flag keep their value.\n').action(
    withClient(async (context, name: string, flags: PutFlags) => {
      const { client, io } = context
      const fields = fieldsOf(flags)
      const base =
        flags.file === undefined ? await schedules.contentOf(client, name) : await readContent(io, flags.file)
      const given = { ...base, ...fields }
      requireAll(name, given)
      const content = { ...given, ...(await newParameters(client, io, given, flags)) }
      await schedules.save(context, name, content as ScheduleContent)
    }),
  )
}

/** --param changes one value and keeps the others; a file replaces all of them. */
async function newParameters(client: Jobcast, io: Io, given: Partial<ScheduleContent>, flags: PutFlags) {
  const { jobName = '', version } = given
  const { parameters } = await parametersOf(io, flags, declaredTypes(client, jobName, version ?? undefined))
  if (parameters === undefined) return {}
  return { parameters: flags.paramsFile === undefined ? { ...given.parameters, ...parameters } : parameters }
}

function requireAll(name: string, { jobName, targets, when }: Partial<ScheduleContent>): void {
  const missing = [
    ...(jobName === undefined ? ['--job'] : []),
    ...(targets === undefined ? ['--device, --where or --group'] : []),
    ...(when === undefined ? ['--cron, --at or --match'] : []),
  ]
  if (missing.length > 0) {
    throw new UsageError(`schedule ${name} does not exist yet; to create it, use ${missing.join('; ')}`)
  }
}

function fieldsOf(flags: PutFlags): Partial<ScheduleContent> {
  const { job, description, overlap, catchUp, jitter, pauseAfter, end, version } = flags
  const { window, priority, replaces, except } = flags
  const targets = targetsOf(flags)
  const when = whenOf(flags)
  return {
    ...(job !== undefined && { jobName: job }),
    ...(description !== undefined && { description }),
    ...(targets && { targets }),
    ...(when && { when }),
    ...(overlap !== undefined && { overlap }),
    ...(catchUp !== undefined && { catchUpSeconds: catchUp }),
    ...(jitter !== undefined && { jitterSeconds: jitter }),
    ...(pauseAfter !== undefined && { pauseAfterFailures: pauseAfter }),
    ...(except && { except }),
    ...(end !== undefined && { until: end }),
    ...(version !== undefined && { version }),
    ...(window !== undefined && { window }),
    ...(priority !== undefined && { priority }),
    ...(replaces !== undefined && { replaces }),
    ...rolloutOf(flags),
  }
}

function targetsOf({ device, where, group, tag }: PutFlags): ScheduleContent['targets'] | undefined {
  if (tag !== undefined)
    throw new UsageError(
      `a schedule has no --tag; select its devices by --where, such as --where 'tag=${tag}'`,
    )
  const given = [device, where, group].filter((each) => each !== undefined)
  if (given.length > 1) throw new UsageError('--device, --where and --group cannot be combined')
  if (device) return { deviceIds: device }
  if (where !== undefined) return { where }
  return group === undefined ? undefined : { group }
}

function whenOf(flags: PutFlags): ScheduleContent['when'] | undefined {
  const { cron, zone, at, match, again, backOff, onLeave } = flags
  const given = [cron, at, match].filter((each) => each !== undefined)
  if (given.length > 1) throw new UsageError('--cron, --at and --match cannot be combined')
  if (zone !== undefined && cron === undefined) throw new UsageError('--zone requires --cron')
  if ((again ?? backOff ?? onLeave) !== undefined && !match)
    throw new UsageError('--again, --back-off and --on-leave require --match')
  if (cron !== undefined) return { cron, ...(zone !== undefined && { timeZone: zone }) }
  if (at !== undefined) return { at }
  if (!match) return undefined
  return {
    match,
    ...(again && { again }),
    ...(backOff !== undefined && { backOffSeconds: backOff }),
    ...(onLeave && { onLeave }),
  }
}
