// jobcast windows: when work is offered to devices.

import type { WindowOpening, WindowTimes } from '@jobcast/client'
import { whoInWords } from '@jobcast/contract/words'
import { type Command, InvalidArgumentError } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { resourceCommands } from '../define/resource-commands.ts'
import { durationSeconds } from '../flags/duration.ts'
import { wholeNumber } from '../flags/whole-number.ts'
import { localTime } from '../output/local-time.ts'
import { whoWithId } from '../output/maker-text.ts'
import type { Column } from '../output/print-table.ts'
import { zonedTime } from '../output/zoned-time.ts'

type PutFlags = { duration: number; zone?: string; cutoff?: number; except?: string[] }

const windows = resourceCommands('windows')

export function windowsCommand(): Command {
  return groupCommand(
    'windows',
    windows.ls([
      { title: 'WINDOW', of: ({ windowName }) => windowName },
      { title: 'OPENS', of: ({ cron }) => cron },
      { title: 'FOR', of: ({ durationMinutes }) => minutesText(durationMinutes) },
      { title: 'ZONE', of: ({ timeZone }) => timeZone },
      { title: 'BY', of: ({ updatedBy, updatedByName }) => whoInWords(updatedBy, updatedByName) },
      { title: 'EXCEPT', of: ({ except }) => except.join(' ') || null },
    ]),
    getCommand(),
    putCommand(),
    nextCommand(),
    windows.rm('A window that a job, a schedule or an unfinished run uses is not deleted.'),
  ).addHelpText(
    'after',
    "\nExample:\n  jobcast windows put nights '0 2 * * *' --duration 3h --cutoff 30m --except 2026-12-24/2027-01-02\n",
  )
}

function getCommand(): Command {
  const show = windows.get(async (window, client) => {
    const { timeZone, items } = await client.windows.next(window.windowName, { count: 1 })
    return {
      value: { ...window, next: items[0] ?? null },
      fields: {
        window: window.windowName,
        opens: window.cron,
        for: minutesText(window.durationMinutes),
        zone: window.timeZone === 'device' ? 'that of each device' : window.timeZone,
        cutoff: window.cutoffMinutes > 0 ? minutesText(window.cutoffMinutes) : null,
        except: window.except.join(', ') || null,
        next: items[0] ? `${openingText(items[0])} (${timeZone})` : 'never',
        created: localTime(window.createdAt),
        'created by': whoWithId(window.createdBy, window.createdByName),
        updated: localTime(window.updatedAt),
        'updated by': whoWithId(window.updatedBy, window.updatedByName),
      },
    }
  })
  return show.description('Show a window, and when it is open next.')
}

function putCommand(): Command {
  return windows
    .put()
    .description('Create or replace a window.')
    .argument('<cron>', 'when it opens: minute, hour, day of month, month, day of week')
    .requiredOption('--duration <time>', 'how long it stays open (3h, 90m), at most a day', minutes)
    .option('--zone <zone>', 'IANA time zone (default: the time zone of each device)')
    .option('--cutoff <time>', 'offer nothing new during this time before it closes (30m)', minutes)
    .option('--except <dates...>', 'closed on these local dates: 2026-12-24, or 2026-12-24/2027-01-02')
    .action(
      withClient((context, name: string, cron: string, flags: PutFlags) => {
        const { duration, zone, cutoff, except } = flags
        return windows.save(context, name, {
          cron,
          durationMinutes: duration,
          ...(zone !== undefined && { timeZone: zone }),
          ...(cutoff !== undefined && { cutoffMinutes: cutoff }),
          ...(except && { except }),
        })
      }),
    )
}

function nextCommand(): Command {
  return ownerCommand('next')
    .description('List when a window is open.')
    .argument('<windowName>')
    .option(
      '--zone <zone>',
      'for a window in the time zone of each device: the time zone to show (default UTC)',
    )
    .option('--count <number>', 'number of openings (default 10)', wholeNumber(1))
    .action(
      withClient(async ({ client, out }, name: string, flags: { zone?: string; count?: number }) => {
        const { zone, count } = flags
        const times: WindowTimes = await client.windows.next(name, {
          ...(zone !== undefined && { timeZone: zone }),
          ...(count !== undefined && { count }),
        })
        if (out.json) out.show(times, () => '')
        else {
          out.showTable(times.items, openingColumns(times.timeZone))
          if (zone === undefined && (await client.windows.get(name)).timeZone === 'device')
            out.say(
              'It opens at these times in the time zone of each device; --zone Europe/Berlin shows them for that zone.',
            )
        }
      }),
    )
}

function openingColumns(zone: string): Column<WindowOpening>[] {
  const inZone: Column<WindowOpening>[] = [
    { title: `OPENS (${zone})`, of: ({ local }) => zonedTime(local) },
    { title: `CLOSES (${zone})`, of: ({ localUntil }) => zonedTime(localUntil) },
  ]
  return [
    ...(zone === 'UTC' ? [] : inZone),
    { title: 'OPENS (UTC)', of: ({ at }) => zonedTime(at) },
    { title: 'OFFERS UNTIL (UTC)', of: ({ offersUntil }) => zonedTime(offersUntil) },
    { title: 'CLOSES (UTC)', of: ({ until }) => zonedTime(until) },
  ]
}

function minutes(text: string): number {
  const seconds = durationSeconds(text)
  if (seconds % 60 !== 0) throw new InvalidArgumentError('It must be whole minutes, such as 90m or 3h.')
  return seconds / 60
}

function minutesText(count: number): string {
  return count % 60 === 0 ? `${count / 60} h` : `${count} min`
}

function openingText({ local, localUntil }: WindowOpening): string {
  return `${zonedTime(local)} to ${zonedTime(localUntil)}`
}
