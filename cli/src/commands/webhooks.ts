// jobcast webhooks: addresses that are told of events.

import type { Webhook } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { removeCommand } from '../define/remove-command.ts'
import { localTime } from '../output/local-time.ts'
import { fieldsText } from '../output/print-table.ts'
import { deliveriesCommand, replayCommand } from './webhook-deliveries.ts'
import { putWebhookCommand } from './webhook-put.ts'

export function webhooksCommand(): Command {
  const ls = listCommand<Webhook>(
    [
      { title: 'WEBHOOK', of: ({ webhookName }) => webhookName },
      {
        title: 'STATE',
        of: ({ state, pausedBecause }) => (pausedBecause ? `${state} (${pausedBecause})` : state),
        paint: (text, { state }, paint) => paint(state === 'ACTIVE' ? 'green' : 'yellow', text),
      },
      { title: 'URL', of: ({ url }) => url },
      { title: 'EVENTS', of: ({ eventTypes }) => eventTypes.join(', ') || 'all' },
      { title: 'FAILING SINCE', of: ({ failingSince }) => localTime(failingSince) },
    ],
    (client) => client.webhooks.list({ limit: 200 }),
  )
  const rm = removeCommand({
    argument: 'webhookName',
    word: 'webhook',
    consequence: 'Its log of deliveries goes with it.',
    remove: (client, name) => client.webhooks.delete(name),
  })
  return groupCommand(
    'webhooks',
    ls.description('List webhooks; also without "ls".'),
    getCommand(),
    putWebhookCommand(),
    switchCommand('pause', 'Send nothing for now.', 'Paused'),
    switchCommand('resume', 'Go on where it was paused.', 'Resumed'),
    secretCommand(),
    deliveriesCommand(),
    replayCommand(),
    rm.description('Delete webhooks.'),
  ).addHelpText(
    'after',
    '\nExample:\n  jobcast webhooks put alerts --to https://example.com/jobcast --event execution.failed\n',
  )
}

function getCommand(): Command {
  return ownerCommand('get')
    .description('Show a webhook.')
    .argument('<webhookName>')
    .action(
      withClient(async ({ client, out }, name: string) => {
        const webhook = await client.webhooks.get(name)
        const asText = { ...webhook, eventTypes: webhook.eventTypes.join(', ') || 'all' }
        out.show(webhook, () => fieldsText(asText, out.paint))
      }),
    )
}

function switchCommand(name: 'pause' | 'resume', does: string, done: string): Command {
  return ownerCommand(name)
    .description(does)
    .argument('<webhookName>')
    .action(
      withClient(async ({ client, out }, webhookName: string) => {
        const webhook = await client.webhooks[name](webhookName)
        out.say(`${done} webhook ${webhookName}.`)
        out.show(webhook, () => '')
      }),
    )
}

function secretCommand(): Command {
  return ownerCommand('secret')
    .description('Make a new secret. It is shown this once; for a day the one before it signs as well.')
    .argument('<webhookName>')
    .action(
      withClient(async ({ client, out }, name: string) => {
        const made = await client.webhooks.rotateSecret(name)
        out.say(`The secret of webhook ${name}, shown this once; for a day the one before it signs as well:`)
        out.show(made, () => made.secret)
      }),
    )
}
