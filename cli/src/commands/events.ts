// jobcast events: prints events as they happen, until Ctrl-C.

import type { EventPattern, JobcastEvent } from '@jobcast/client'
import { eventPatterns } from '@jobcast/contract/words'
import type { Command } from 'commander'
import { type OwnerContext, ownerCommand, withClient } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { choicesOption } from '../flags/choice.ts'
import { idNumber, wholeNumber } from '../flags/whole-number.ts'
import { eventLine } from '../output/event-line.ts'
import { listenForInterrupt } from '../signals/interrupt.ts'
import { ReconnectNotice } from '../watch/reconnect-notice.ts'

type EventFlags = { type?: EventPattern[]; run?: number; job?: string; device?: string; after?: number }

export function eventsCommand(): Command {
  return ownerCommand('events')
    .addOption(
      choicesOption(
        '--type <type>',
        'only events of this type; can be repeated or comma-separated',
        eventPatterns,
      ),
    )
    .option('--run <runId>', 'only events of this run', idNumber)
    .option('--job <name>', 'only events of this job')
    .option('-d, --device <id>', 'only events of this device')
    .option(
      '--after <eventId>',
      'start after this event; 0 starts with the oldest retained event',
      wholeNumber(0),
    )
    .addHelpText('after', '\nExample:\n  jobcast events --type execution.failed --json\n')
    .action(withClient(printEvents))
}

async function printEvents({ client, out, io }: OwnerContext, flags: EventFlags): Promise<ExitCode> {
  const interrupt = listenForInterrupt(io)
  const notice = new ReconnectNotice(out)
  const events = client.events({
    types: flags.type,
    runId: flags.run,
    jobName: flags.job,
    deviceId: flags.device,
    after: flags.after,
    signal: interrupt.signal,
    onOpen: () => out.say('Listening for events; press Ctrl-C to stop.'),
    onReconnect: notice.onReconnect,
  })
  try {
    for await (const event of events) {
      notice.reset()
      out.showNext(event, () => eventLine(event as JobcastEvent, out.paint))
    }
    return exitCode.ok
  } finally {
    interrupt.stop()
  }
}
