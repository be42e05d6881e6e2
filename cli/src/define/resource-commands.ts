// `ls`, `get`, `put` and `rm` of a resource, built from its description.

import {
  type AllResourceCalls,
  isJobcastError,
  type Jobcast,
  type Query,
  type ResourceCalls,
  type ResourceName,
  type ResourceTypes,
  resources,
} from '@jobcast/client'
import type { Command } from 'commander'
import { type Column, fieldsText } from '../output/print-table.ts'
import { listCommand } from './list-command.ts'
import { type OwnerContext, ownerCommand, withClient } from './owner-command.ts'
import { removeCommand } from './remove-command.ts'

type View<Name extends ResourceName> = ResourceTypes[Name]['view']
type Content<Name extends ResourceName> = ResourceTypes[Name]['content']
/** What `get` prints; `value` is the JSON, if it has more than the resource. */
type Shown = { fields: Parameters<typeof fieldsText>[0]; value?: object }

export function callsOf<Name extends ResourceName>(
  client: AllResourceCalls,
  name: Name,
): ResourceCalls<Name> {
  return client[name]
}

export function resourceCommands<Name extends ResourceName>(name: Name) {
  const { noun, key } = resources[name]
  return {
    ls<Flags extends object = object>(
      columns: readonly Column<View<Name>>[],
      queryOf: (flags: Flags) => Query<ResourceTypes[Name]['query']> = () => ({}),
    ): Command {
      return listCommand<View<Name>, Flags>(columns, (client, flags) =>
        callsOf(client, name).list({ limit: 200, ...queryOf(flags) }),
      ).description(`List ${name} (default).`)
    },

    get(show: (view: View<Name>, client: Jobcast) => Shown | Promise<Shown>): Command {
      return ownerCommand('get')
        .description(`Show a ${noun}.`)
        .argument(`<${key}>`)
        .action(
          withClient(async ({ client, out }, each: string) => {
            const view = await callsOf(client, name).get(each)
            const { fields, value = view } = await show(view, client)
            out.show(value, () => fieldsText(fields, out.paint))
          }),
        )
    },

    /** The caller adds flags, further arguments and the action. */
    put: (): Command => ownerCommand('put').description(`Create or update a ${noun}.`).argument(`<${key}>`),

    rm: (
      consequence: string,
      remove: (client: Jobcast, each: string, flags: object) => Promise<void> = (client, each) =>
        callsOf(client, name).delete(each),
    ): Command => removeCommand({ argument: key, noun, consequence, remove }).description(`Delete ${name}.`),

    /** The current content of a resource; empty if it does not exist. */
    async contentOf(client: Jobcast, each: string): Promise<Partial<Content<Name>>> {
      const { fields, notFound } = resources[name]
      try {
        const view = Object.entries(await callsOf(client, name).get(each))
        const given = view.filter(([field, value]) => fields.includes(field) && value !== null)
        return Object.fromEntries(given) as Partial<Content<Name>>
      } catch (error) {
        if (isJobcastError(error, notFound)) return {}
        throw error
      }
    },

    async save({ client, out }: OwnerContext, each: string, content: Content<Name>): Promise<void> {
      const calls: {
        put(each: string, content: Content<Name>): Promise<{ created: boolean; value: object }>
      } = callsOf(client, name)
      const { created, value } = await calls.put(each, content)
      out.say(`${created ? 'Created' : 'Updated'} ${noun} ${each}.`)
      out.show(value, () => '')
    },
  }
}
