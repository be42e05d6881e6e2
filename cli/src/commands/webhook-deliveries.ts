// jobcast webhooks deliveries and replay.

import type { Delivery } from '@jobcast/client'
import { deliveryStates } from '@jobcast/contract'
import { type Command, Option } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { UsageError } from '../errors/usage-error.ts'
import { choiceOption } from '../flags/choice.ts'
import { instantBack } from '../flags/duration.ts'
import { idNumber, wholeNumber } from '../flags/whole-number.ts'
import { localTime } from '../output/local-time.ts'
import type { Column } from '../output/print-table.ts'
import { takeItems } from '../service/take-items.ts'

type DeliveriesFlags = { state?: Delivery['state']; limit: number }
type ReplayFlags = { event?: number; since?: string }

const columns: Column<Delivery>[] = [
  { title: 'EVENT', of: ({ eventId }) => eventId },
  { title: 'TYPE', of: ({ type }) => type },
  {
    title: 'STATE',
    of: ({ state }) => state,
    paint: (text, { state }, paint) =>
      paint(state === 'DELIVERED' ? 'green' : state === 'FAILED' ? 'red' : 'dim', text),
  },
  { title: 'ATTEMPTS', of: ({ attempts }) => attempts.length },
  { title: 'LAST', of: ({ attempts }) => localTime(attempts.at(-1)?.at ?? null) },
  { title: 'ANSWER', of: ({ attempts }) => attempts.at(-1)?.error ?? attempts.at(-1)?.status },
  { title: 'NEXT', of: ({ nextAttemptAt }) => localTime(nextAttemptAt) },
]

export function deliveriesCommand(): Command {
  return ownerCommand('deliveries')
    .description('List deliveries, newest first.')
    .argument('<webhookName>')
    .addOption(choiceOption('--state <state>', 'only deliveries in this state', deliveryStates))
    .option('--limit <number>', 'maximum number of results', wholeNumber(1), 50)
    .action(
      withClient(async ({ client, out }, name: string, flags: DeliveriesFlags) => {
        const list = client.webhooks.deliveries(name, {
          limit: Math.min(flags.limit, 200),
          state: flags.state,
        })
        const { items, hasMore } = await takeItems(list, flags.limit)
        out.showTable(items, columns)
        if (hasMore) out.say(`More deliveries exist; raise --limit (${flags.limit}) to see them.`)
      }),
    )
}

export function replayCommand(): Command {
  return ownerCommand('replay')
    .description('Send one event again, or all events since a point in time.')
    .argument('<webhookName>')
    .option('--event <eventId>', 'send this event again', idNumber)
    .addOption(
      new Option('--since <when>', 'send all events since then again: a time, or 2h for the last two hours')
        .argParser(instantBack)
        .conflicts('event'),
    )
    .action(
      withClient(async ({ client, out }, name: string, { event, since }: ReplayFlags) => {
        if (event !== undefined) {
          const delivery = await client.webhooks.replayOne(name, event)
          out.say(`Event ${event} will be sent to webhook ${name} again.`)
          return out.show(delivery, () => '')
        }
        if (since === undefined) throw new UsageError('use --event or --since')
        const webhook = await client.webhooks.replaySince(name, { since })
        out.say(`All events since ${since} will be sent to webhook ${name} again.`)
        return out.show(webhook, () => '')
      }),
    )
}
