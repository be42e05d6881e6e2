// jobcast groups: named selectors.

import { type Group, isJobcastError } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { removeCommand } from '../define/remove-command.ts'
import { localTime } from '../output/local-time.ts'
import { fieldsText } from '../output/print-table.ts'

export function groupsCommand(): Command {
  const ls = listCommand<Group>(
    [
      { title: 'GROUP', of: ({ groupName }) => groupName },
      { title: 'WHERE', of: ({ where }) => where },
      { title: 'DESCRIPTION', of: ({ description }) => description || null },
    ],
    (client) => client.groups.list({ limit: 200 }),
  )
  const rm = removeCommand({
    argument: 'groupName',
    noun: 'group',
    consequence: 'Selectors that refer to it are rejected from now on.',
    remove: (client, name) => client.groups.delete(name),
  })
  return groupCommand(
    'groups',
    ls.description('List groups (default).'),
    getCommand(),
    putCommand(),
    rm.description('Delete groups.'),
  ).addHelpText('after', "\nExample:\n  jobcast groups put kiosks 'tag=kiosk and site in (berlin, lima)'\n")
}

/** A group that it names was deleted: the others of what it says can be shown. */
function unlessUnknown(error: unknown): { total?: number; online?: number } {
  if (isJobcastError(error, 'J-309')) return {}
  throw error
}

function getCommand(): Command {
  return ownerCommand('get')
    .description('Show a group, and how many devices it has now.')
    .argument('<groupName>')
    .action(
      withClient(async ({ client, out }, name: string) => {
        const group = await client.groups.get(name)
        const { total = null, online = null } = await client.devices.count(group.where).catch(unlessUnknown)
        const { groupName, where, description, createdAt, updatedAt } = group
        out.show({ ...group, total, online }, () =>
          fieldsText(
            {
              group: groupName,
              where,
              description,
              devices:
                total === null
                  ? 'unknown: it refers to a group that does not exist'
                  : `${total}, ${online} online`,
              created: localTime(createdAt),
              updated: localTime(updatedAt),
            },
            out.paint,
          ),
        )
      }),
    )
}

function putCommand(): Command {
  return ownerCommand('put')
    .description('Create or replace a group.')
    .argument('<groupName>')
    .argument('<where>', 'selector')
    .option('--description <text>', 'what it is for')
    .action(
      withClient(async ({ client, out }, name: string, where: string, flags: { description?: string }) => {
        const { created, value } = await client.groups.put(name, { where, ...flags })
        out.say(`${created ? 'Created' : 'Updated'} group ${name}.`)
        out.show(value, () => '')
      }),
    )
}
