// jobcast webhooks deliveries and replay: what was sent, and sending it again.

import type { Delivery } from '@jobcast/client'
import { deliveryStates } from '@jobcast/contract'
import { type Command, Option } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { UsageError } from '../errors/usage-error.ts'
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
    .description('List what was sent, newest first, and how it went.')
    .argument('<webhookName>')
    .addOption(new Option('--state <state>', 'only those in this state').choices(deliveryStates))
    .option('--limit <number>', 'at most so many', wholeNumber(1), 50)
    .action(
      withClient(async ({ client, out }, name: string, flags: DeliveriesFlags) => {
        const list = client.webhooks.deliveries(name, {
          limit: Math.min(flags.limit, 200),
          state: flags.state,
        })
        const { items, hasMore } = await takeItems(list, flags.limit)
        out.showTable(items, columns)
        if (hasMore) out.say(`There are more; --limit ${flags.limit * 10} shows more.`)
      }),
    )
}

export function replayCommand(): Command {
  return ownerCommand('replay')
    .description('Send one event again, or every event since an instant.')
    .argument('<webhookName>')
    .option('--event <eventId>', 'this one', idNumber)
    .addOption(
      new Option('--since <when>', 'every event from then on: an instant, or 2h for the last two hours')
        .argParser(instantBack)
        .conflicts('event'),
    )
    .action(
      withClient(async ({ client, out }, name: string, { event, since }: ReplayFlags) => {
        if (event !== undefined) {
          const delivery = await client.webhooks.replayOne(name, event)
          out.say(`Event ${event} is sent to webhook ${name} again.`)
          return out.show(delivery, () => '')
        }
        if (since === undefined) throw new UsageError('--event or --since must say what is sent again')
        const webhook = await client.webhooks.replaySince(name, { since })
        out.say(`Every event since ${since} is sent to webhook ${name} again.`)
        return out.show(webhook, () => '')
      }),
    )
}
