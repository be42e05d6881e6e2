// jobcast webhooks: URLs to which events are sent.

import type { Webhook } from '@jobcast/client'
import type { Command } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { resourceCommands } from '../define/resource-commands.ts'
import { restrictionText } from '../output/key-fields.ts'
import { localTime } from '../output/local-time.ts'
import { makerText, makerWithId } from '../output/maker-text.ts'
import { deliveriesCommand, replayCommand } from './webhook-deliveries.ts'
import { listenCommand } from './webhook-listen.ts'
import { putWebhookCommand } from './webhook-put.ts'
import { testCommand } from './webhook-test.ts'

const webhooks = resourceCommands('webhooks')

export function webhooksCommand(): Command {
  return groupCommand(
    'webhooks',
    webhooks.ls([
      { title: 'WEBHOOK', of: ({ webhookName }) => webhookName },
      {
        title: 'STATE',
        of: stateText,
        paint: (text, { state }, paint) => paint(state === 'ACTIVE' ? 'green' : 'yellow', text),
      },
      { title: 'URL', of: ({ url }) => url },
      { title: 'FORMAT', of: ({ format }) => format },
      { title: 'EVENTS', of: eventsText },
      { title: 'RESTRICTED TO', of: restrictedText },
      { title: 'FAILING SINCE', of: ({ failingSince }) => localTime(failingSince) },
      { title: 'CREATED BY', of: makerText },
    ]),
    webhooks.get((webhook) => ({ fields: fieldsOf(webhook) })),
    putWebhookCommand(),
    switchCommand('pause', 'Pause a webhook: send nothing until it is resumed.', 'Paused'),
    switchCommand('resume', 'Resume a webhook from where it was paused.', 'Resumed'),
    secretCommand(),
    testCommand(),
    deliveriesCommand(),
    replayCommand(),
    listenCommand(),
    webhooks.rm('Its delivery log is deleted as well.'),
  ).addHelpText(
    'after',
    '\nExample:\n  jobcast webhooks put alerts --to https://example.com/jobcast --event execution.failed\n',
  )
}

function fieldsOf(webhook: Webhook) {
  const { jobName, deviceId, lastFailure } = webhook
  const restricted = restrictedText(webhook)
  return {
    webhook: webhook.webhookName,
    url: webhook.url,
    format: webhook.format,
    events: eventsText(webhook),
    ...(jobName !== null && { job: jobName }),
    ...(deviceId !== null && { device: deviceId }),
    ...(restricted !== null && { 'restricted to': restricted }),
    state: stateText(webhook),
    'last delivered': localTime(webhook.lastDeliveredAt),
    'failing since': localTime(webhook.failingSince),
    'last failure': lastFailure && `${localTime(lastFailure.at)}: ${lastFailure.error}`,
    created: localTime(webhook.createdAt),
    updated: localTime(webhook.updatedAt),
    by: makerWithId(webhook),
  }
}

/** The restriction of the key that put it. */
function restrictedText({ jobs, where }: Webhook): string | null {
  return restrictionText({ jobs, where, addresses: null })
}

function stateText({ state, pausedBecause }: Webhook): string {
  return pausedBecause === null ? state : `${state} (${pausedBecause})`
}

/** Without types, a chat gets only a default selection. */
function eventsText({ eventTypes, format }: Pick<Webhook, 'eventTypes' | 'format'>): string {
  const isChat = format === 'slack' || format === 'teams'
  return eventTypes.join(', ') || (isChat ? 'default for chats' : 'all')
}

function switchCommand(name: 'pause' | 'resume', description: string, done: string): Command {
  return ownerCommand(name)
    .description(description)
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
    .description('Create a new secret. It is shown only once; the previous one stays valid for a day.')
    .argument('<webhookName>')
    .action(
      withClient(async ({ client, out }, name: string) => {
        const created = await client.webhooks.rotateSecret(name)
        out.say(
          `New secret of webhook ${name}. It is shown only once; the previous one stays valid for a day:`,
        )
        out.show(created, () => created.secret)
      }),
    )
}
