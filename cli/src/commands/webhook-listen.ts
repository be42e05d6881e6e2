// jobcast webhooks listen: forwards events to a local port, signed like those of a webhook, to develop a receiver.

import { randomBytes } from 'node:crypto'
import type { EventPattern, JobcastEvent } from '@jobcast/client'
import { eventPatterns } from '@jobcast/contract/words'
import { type Command, InvalidArgumentError } from 'commander'
import { type OwnerContext, ownerCommand, withClient } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { choicesOption } from '../flags/choice.ts'
import { wholeNumber } from '../flags/whole-number.ts'
import { eventLine } from '../output/event-line.ts'
import { plainText } from '../output/text-width.ts'
import { isHttpUrl } from '../service/http-url.ts'
import { reasonOf } from '../service/reach.ts'
import { listenForInterrupt } from '../signals/interrupt.ts'
import { ReconnectNotice } from '../watch/reconnect-notice.ts'

type ListenFlags = { forward: string; event?: EventPattern[]; job?: string; device?: string; after?: number }

/** The service waits as long for a receiver. */
const responseLimitMs = 15_000
const secretVariable = 'JOBCAST_WEBHOOK_SECRET'

export function listenCommand(): Command {
  return ownerCommand('listen')
    .description('Forward events to a local port, signed like those of a webhook.')
    .requiredOption('--forward <url>', 'where to POST events, for example http://127.0.0.1:3000', targetOf)
    .addOption(
      choicesOption(
        '--event <type>',
        'only events of this type; can be repeated or comma-separated (default: all)',
        eventPatterns as readonly EventPattern[],
      ),
    )
    .option('--job <jobName>', 'only events of this job')
    .option('--device <deviceId>', 'only events of this device')
    .option(
      '--after <eventId>',
      'start after this event; 0 starts with the oldest retained event',
      wholeNumber(0),
    )
    .addHelpText(
      'after',
      `\n  ${secretVariable}   secret to sign with (whsec_…); by default a new one is printed\n\n` +
        'Each event is sent once, in order. Press Ctrl-C to stop.\n',
    )
    .action(withClient(listen))
}

async function listen({ client, out, io }: OwnerContext, flags: ListenFlags): Promise<ExitCode> {
  const { signal, stop } = listenForInterrupt(io)
  const send = await openSender(flags.forward, secretOf(io.env, out.say.bind(out)), signal)
  const notice = new ReconnectNotice(out)
  const events = client.events({
    types: flags.event,
    jobName: flags.job,
    deviceId: flags.device,
    after: flags.after,
    signal,
    onReconnect: notice.onReconnect,
    onOpen: () => out.say(`Forwarding events to ${flags.forward}; press Ctrl-C to stop.`),
  })
  try {
    for await (const event of events) {
      notice.reset()
      const outcome = await send(event as JobcastEvent)
      if (signal.aborted) break
      const shown = outcome.status ?? outcome.error ?? ''
      out.showNext({ event, ...outcome }, () => `${eventLine(event as JobcastEvent, out.paint)} -> ${shown}`)
    }
    return exitCode.ok
  } finally {
    stop()
  }
}

type Outcome = { status?: number; error?: string }

async function openSender(url: string, secret: string, signal: AbortSignal) {
  // Loaded here, so that other commands on webhooks do not load the server.
  const { eventMessageId, signWebhook } = await import('@jobcast/server')
  return async (event: JobcastEvent): Promise<Outcome> => {
    const body = JSON.stringify(event)
    const headers = signWebhook([secret], { id: eventMessageId(event.eventId), body, now: Date.now() })
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(responseLimitMs)]),
      })
      await response.body?.cancel()
      return { status: response.status }
    } catch (error) {
      return { error: plainText(reasonOf(error as Error)) }
    }
  }
}

function secretOf(env: NodeJS.ProcessEnv, say: (text: string) => void): string {
  const given = env[secretVariable]
  if (!given) {
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    say(`Signing with a new secret: ${secret}`)
    return secret
  }
  if (!/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(given))
    throw new UsageError(`${secretVariable} is not a webhook secret (whsec_…)`)
  return given
}

function targetOf(text: string): string {
  const url = /^\d+$/.test(text) ? `http://127.0.0.1:${text}` : text
  if (!isHttpUrl(url)) throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:3000.')
  return url
}
