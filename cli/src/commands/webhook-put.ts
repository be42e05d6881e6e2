// jobcast webhooks put: makes a webhook, or changes it.

import { isJobcastError, type Jobcast, type WebhookContent } from '@jobcast/client'
import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { UsageError } from '../errors/usage-error.ts'
import { collectWords } from '../flags/collect.ts'

type PutFlags = { to?: string; event?: string[]; job?: string; device?: string }

export function putWebhookCommand(): Command {
  // --to, because --url is the address of the service, here as everywhere.
  return ownerCommand('put')
    .description('Make a webhook, or change it. The secret of a new one is shown this once.')
    .argument('<webhookName>')
    .option('--to <url>', 'where events are sent, by POST')
    .option(
      '--event <type>',
      'only these, like execution.failed or run.*; one each time (default: all)',
      collectWords,
    )
    .option('--job <jobName>', 'only what belongs to this job')
    .option('--device <deviceId>', 'only what belongs to this device')
    .addHelpText('after', '\nWhat no flag names stays as it is; its secret stays in any case.\n')
    .action(
      withClient(async ({ client, out }, name: string, flags: PutFlags) => {
        const base = await contentOf(client, name)
        const url = flags.to ?? base?.url
        if (url === undefined)
          throw new UsageError(`webhook ${name} is new: --to must say where events are sent`)
        const { created, value } = await client.webhooks.put(name, {
          ...base,
          url,
          ...(flags.event && { eventTypes: flags.event as NonNullable<WebhookContent['eventTypes']> }),
          ...(flags.job !== undefined && { jobName: flags.job }),
          ...(flags.device !== undefined && { deviceId: flags.device }),
        })
        if (created) out.say(`Made webhook ${name}. Its secret, shown this once:`)
        else out.say(`Changed webhook ${name}.`)
        out.show(value, () => (created ? value.secret : ''))
      }),
    )
}

async function contentOf(client: Jobcast, name: string): Promise<WebhookContent | undefined> {
  try {
    const { url, eventTypes, jobName, deviceId } = await client.webhooks.get(name)
    return {
      url,
      eventTypes: eventTypes as NonNullable<WebhookContent['eventTypes']>,
      ...(jobName !== null && { jobName }),
      ...(deviceId !== null && { deviceId }),
    }
  } catch (error) {
    if (isJobcastError(error, 'J-307')) return undefined
    throw error
  }
}
