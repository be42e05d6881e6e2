// jobcast enrollments: by which devices fetch their first token themselves.

import type { Enrollment, NewEnrollment } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { removeCommand } from '../define/remove-command.ts'
import { collect } from '../flags/collect.ts'
import { durationSeconds } from '../flags/duration.ts'
import { wholeNumber } from '../flags/whole-number.ts'
import { localTime } from '../output/local-time.ts'

type NewFlags = { name?: string; maxUses?: number; expiresIn?: number; tag?: string[]; prefix?: string }

export function enrollmentsCommand(): Command {
  const ls = listCommand<Enrollment>(
    [
      { title: 'ENROLMENT', of: ({ enrollmentId }) => enrollmentId },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'USED', of: ({ used, maxUses }) => `${used} of ${maxUses}` },
      { title: 'PREFIX', of: ({ deviceIdPrefix }) => deviceIdPrefix },
      { title: 'TAGS', of: ({ tags }) => tags.join(', ') || null },
      { title: 'EXPIRES', of: ({ expiresAt }) => localTime(expiresAt) },
      { title: 'REVOKED', of: ({ revokedAt }) => localTime(revokedAt) },
    ],
    (client) => client.enrollments.list({ limit: 200 }),
  )
  const rm = removeCommand({
    argument: 'enrollmentId',
    verb: ['Revoke', 'Revoked'],
    word: 'enrolment',
    consequence: 'Devices that have enrolled keep their tokens.',
    remove: (client, name) => client.enrollments.revoke(name),
  })
  return groupCommand(
    'enrollments',
    ls.description('List enrolments, also those that are over; also without "ls".'),
    newCommand(),
    rm.description('Revoke enrolments.'),
  ).addHelpText(
    'after',
    '\nExample:\n  jobcast enrollments new --max-uses 200 --expires-in 7d --tag kiosk --prefix kiosk-\n',
  )
}

function newCommand(): Command {
  return ownerCommand('new')
    .description('Make an enrolment. Its token is shown this once.')
    .option('--name <text>', 'for people')
    .option('--max-uses <number>', 'how many devices may enrol (default 1)', wholeNumber(1))
    .option('--expires-in <duration>', 'like 7d or 12h (default 1d)', durationSeconds)
    .option('--tag <tag>', 'of each device that it makes; one each time', collect)
    .option('--prefix <text>', 'the deviceId of each device must begin so')
    .action(
      withClient(async ({ client, out }, flags: NewFlags) => {
        const { name, maxUses, expiresIn: expiresInSeconds, tag: tags, prefix: deviceIdPrefix } = flags
        const content = { name, maxUses, expiresInSeconds, tags, deviceIdPrefix }
        const given = Object.entries(content).filter(([, value]) => value !== undefined)
        const made = await client.enrollments.create(Object.fromEntries(given) as NewEnrollment)
        out.say(`The token of enrolment ${made.enrollmentId}, shown this once, good until ${made.expiresAt}:`)
        out.show(made, () => made.enrollmentToken)
      }),
    )
}
