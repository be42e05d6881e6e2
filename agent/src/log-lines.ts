import type { AgentEvent } from './events.ts'
import { printable } from './output/printable.ts'

/** One human-readable line, which never contains a token. Only an internal error has more lines: its stack. */
export function logLine(event: AgentEvent): string {
  return event.kind === 'fault' ? textOfEvent(event) : printable(textOfEvent(event))
}

function textOfEvent(event: AgentEvent): string {
  switch (event.kind) {
    case 'connected':
      return `connected to ${event.url}`
    case 'disconnected':
      return `connection lost: ${event.reason}`
    case 'no-connection':
      return `no connection to ${event.url}: ${event.reason}`
    case 'sign-in-refused':
      return `sign-in refused by ${event.url}: ${event.reason}. Retrying; the token file is read again each time`
    case 'handlers-writable':
      return `Warning: ${event.problem}`
    case 'journal-replaced':
      return `the journal is damaged and was moved to ${event.keptAs}; executions in progress will not be started again`
    case 'disk-trouble':
      return `${event.what}: ${textOf(event.error)}`
    case 'attributes-refused':
      return `the server refused the attributes of this device: ${event.message}`
    case 'attributes-failed':
      return `the attributes of this device were not reported: ${textOf(event.error)}`
    case 'fault':
      return `internal error: ${event.error instanceof Error ? event.error.stack : String(event.error)}`
    default:
      return `execution ${event.jobId}, attempt ${event.attempt}: ${attemptText(event)}`
  }
}

function attemptText(event: Extract<AgentEvent, { jobId: string }>): string {
  switch (event.kind) {
    case 'started':
      return `started${event.start > 1 ? ` (start ${event.start})` : ''}: ${event.step}, pid ${event.pid}`
    case 'canceled':
      return event.deadlineSeconds === 0
        ? 'already ended on the server, stopping it'
        : 'canceled, stopping it'
    case 'rebooting':
      return 'waiting for a reboot'
    case 'leftovers-ended':
      return `ended leftover process groups: ${event.groups.join(', ')}`
    case 'ended':
      return event.reason === undefined ? event.status : `${event.status}: ${event.reason}`
    case 'reported':
      return `reported as ${event.status}`
    case 'not-wanted':
      return `report refused: ${event.message}`
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
