// jobcast webhooks put: creates or updates a webhook.

import type { WebhookContent } from '@jobcast/client'
import { eventPatterns, webhookFormats } from '@jobcast/contract'
import type { Command } from 'commander'
import { withClient } from '../define/owner-command.ts'
import { resourceCommands } from '../define/resource-commands.ts'
import { UsageError } from '../errors/usage-error.ts'
import { choiceOption, choicesOption } from '../flags/choice.ts'

type PutFlags = {
  to?: string
  event?: NonNullable<WebhookContent['eventTypes']>
  job?: string
  device?: string
  format?: NonNullable<WebhookContent['format']>
}

const webhooks = resourceCommands('webhooks')

export function putWebhookCommand(): Command {
  // The flag is --to, because --url is the address of the service in every command.
  return webhooks
    .put()
    .description('Create or update a webhook. The secret of a new one is shown only once.')
    .option('--to <url>', 'URL to which events are sent by POST')
    .addOption(
      choicesOption(
        '--event <type>',
        'only events of this type; can be repeated or comma-separated (default: all; for chats those that matter to people)',
        eventPatterns,
      ),
    )
    .option('--job <jobName>', 'only events of this job')
    .option('--device <deviceId>', 'only events of this device')
    .addOption(
      choiceOption(
        '--format <format>',
        'what is sent: events, chat messages, or CloudEvents',
        webhookFormats,
      ),
    )
    .addHelpText('after', '\nFields without a flag keep their value; the secret never changes.\n')
    .action(
      withClient(async ({ client, out }, name: string, flags: PutFlags) => {
        const base = await webhooks.contentOf(client, name)
        const url = flags.to ?? base.url
        if (url === undefined)
          throw new UsageError(`webhook ${name} does not exist yet; --to is required to create it`)
        const { created, value } = await client.webhooks.put(name, {
          ...base,
          url,
          ...(flags.event && { eventTypes: flags.event }),
          ...(flags.job !== undefined && { jobName: flags.job }),
          ...(flags.device !== undefined && { deviceId: flags.device }),
          ...(flags.format && { format: flags.format }),
        })
        if (created) out.say(`Created webhook ${name}. Its secret is shown only once:`)
        else out.say(`Updated webhook ${name}.`)
        out.show(value, () => (created ? value.secret : ''))
      }),
    )
}
