// jobcast enrollments: let devices fetch their first token themselves.

import type { Enrollment, NewEnrollment } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { removeCommand } from '../define/remove-command.ts'
import { UsageError } from '../errors/usage-error.ts'
import { collect } from '../flags/collect.ts'
import { durationSeconds } from '../flags/duration.ts'
import { wholeNumber } from '../flags/whole-number.ts'
import { localTime } from '../output/local-time.ts'
import { makerText } from '../output/maker-text.ts'

type NewFlags = {
  name?: string
  maxUses?: number
  expiresIn?: number
  tag?: string[]
  prefix?: string
  anyDevice?: true
}

export function enrollmentsCommand(): Command {
  const ls = listCommand<Enrollment>(
    [
      { title: 'ENROLLMENT', of: ({ enrollmentId }) => enrollmentId },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'USED', of: ({ used, maxUses }) => `${used} of ${maxUses}` },
      { title: 'PREFIX', of: ({ deviceIdPrefix }) => deviceIdPrefix },
      { title: 'TAGS', of: ({ tags }) => tags.join(', ') || null },
      { title: 'EXPIRES', of: ({ expiresAt }) => localTime(expiresAt) },
      { title: 'REVOKED', of: ({ revokedAt }) => localTime(revokedAt) },
      { title: 'CREATED BY', of: makerText },
    ],
    (client) => client.enrollments.list({ limit: 200 }),
  )
  const rm = removeCommand({
    argument: 'enrollmentId',
    verb: ['Revoke', 'Revoked'],
    noun: 'enrollment',
    consequence: 'Devices that have already enrolled keep their tokens.',
    remove: (client, name) => client.enrollments.revoke(name),
  })
  return groupCommand(
    'enrollments',
    ls.description('List enrollments, including expired and revoked ones (default).'),
    newCommand(),
    rm.description('Revoke enrollments.'),
  ).addHelpText(
    'after',
    '\nExample:\n  jobcast enrollments new --max-uses 200 --expires-in 7d --tag kiosk --prefix kiosk-\n',
  )
}

function newCommand(): Command {
  return ownerCommand('new')
    .description('Create an enrollment. Its token is shown only once.')
    .option('--name <text>', 'display name')
    .option('--max-uses <number>', 'how many devices can enroll (default 1)', wholeNumber(1))
    .option('--expires-in <duration>', 'such as 7d or 12h (default 1d)', durationSeconds)
    .option('--tag <tag>', 'tag of each device that enrolls; can be repeated', collect)
    .option('--prefix <text>', 'prefix that each deviceId must have')
    .option('--any-device', 'instead of --prefix: allow every deviceId that has no token yet')
    .action(
      withClient(async ({ client, out }, flags: NewFlags) => {
        refuseUnclear(flags)
        const { name, maxUses, expiresIn: expiresInSeconds, tag: tags, prefix: deviceIdPrefix } = flags
        const content = { name, maxUses, expiresInSeconds, tags, deviceIdPrefix }
        const given = Object.entries(content).filter(([, value]) => value !== undefined)
        const created = await client.enrollments.create(Object.fromEntries(given) as NewEnrollment)
        out.say(
          `Token of enrollment ${created.enrollmentId}, valid until ${created.expiresAt}. It is shown only once:`,
        )
        out.show(created, () => created.enrollmentToken)
      }),
    )
}

/** A token for any deviceId can also claim the id of a device that is registered but has not signed in yet. */
function refuseUnclear({ prefix, anyDevice }: NewFlags): void {
  if (prefix === undefined && !anyDevice) {
    throw new UsageError(
      'specify which devices may enroll: --prefix kiosk- allows ids that begin with kiosk-, --any-device allows every id',
    )
  }
  if (prefix !== undefined && anyDevice) throw new UsageError('use --prefix or --any-device, not both')
}
