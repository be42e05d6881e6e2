// jobcast events: what happens, as it happens, until Ctrl-C.

import type { EventPattern, JobcastEvent } from '@jobcast/client'
import type { Command } from 'commander'
import { type OwnerContext, ownerCommand, withClient } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { repeatable } from '../flags/target-devices.ts'
import { idNumber, wholeNumber } from '../flags/whole-number.ts'
import { eventLine } from '../output/event-line.ts'
import { plainText } from '../output/text-width.ts'
import { listenForInterrupt } from '../signals/interrupt.ts'

type EventFlags = { type?: string[]; run?: number; job?: string; device?: string; after?: number }

export function eventsCommand(): Command {
  return ownerCommand('events')
    .addOption(
      repeatable('--type <type>', 'only these, for example execution.failed or "run.*"; can be repeated'),
    )
    .option('--run <runId>', 'only those of this run', idNumber)
    .option('--job <name>', 'only those of this job')
    .option('-d, --device <id>', 'only those of this device')
    .option('--after <eventId>', 'begin behind this event; 0: with the oldest that is kept', wholeNumber(0))
    .addHelpText('after', '\nExample:\n  jobcast events --type execution.failed --json\n')
    .action(withClient(printEvents))
}

async function printEvents({ client, out, io }: OwnerContext, flags: EventFlags): Promise<ExitCode> {
  const interrupt = listenForInterrupt(io)
  let lastTrouble = ''
  const events = client.events({
    // What is no type the service refuses, and says so.
    types: flags.type as EventPattern[] | undefined,
    runId: flags.run,
    jobName: flags.job,
    deviceId: flags.device,
    after: flags.after,
    signal: interrupt.signal,
    onOpen: () => out.say('Listening for events; Ctrl-C ends it.'),
    onReconnect(cause) {
      const trouble = cause instanceof Error ? plainText(cause.message) : 'the service ended the stream'
      // A service that is away for an hour is one line, not one for each try.
      if (trouble !== lastTrouble) out.say(`Connecting again: ${trouble}`)
      lastTrouble = trouble
    },
  })
  try {
    for await (const event of events) {
      lastTrouble = ''
      out.showNext(event, () => eventLine(event as JobcastEvent, out.paint))
    }
    return exitCode.ok
  } finally {
    interrupt.stop()
  }
}
