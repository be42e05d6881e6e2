import type { AgentEvent } from './events.ts'

/** One line for people; a token is in none of them. */
export function logLine(event: AgentEvent): string {
  switch (event.kind) {
    case 'connected':
      return `connected to ${event.url}`
    case 'disconnected':
      return `connection lost: ${event.reason}`
    case 'no-connection':
      return `no connection to ${event.url}: ${event.reason}`
    case 'sign-in-refused':
      return `not let in by ${event.url}: ${event.reason}. Trying again; a new token is read from the file`
    case 'journal-replaced':
      return `the journal cannot be read and is kept as ${event.keptAs}; executions under way will not be started again`
    case 'disk-trouble':
      return `${event.what}: ${textOf(event.error)}`
    case 'fault':
      return `a fault of the agent: ${event.error instanceof Error ? event.error.stack : String(event.error)}`
    default:
      return `execution ${event.jobId}, attempt ${event.attempt}: ${deedText(event)}`
  }
}

function deedText(event: Extract<AgentEvent, { jobId: string }>): string {
  switch (event.kind) {
    case 'started':
      return `${event.start > 1 ? `started for the ${event.start}. time` : 'started'}: ${event.step}, pid ${event.pid}`
    case 'canceled':
      return event.deadlineSeconds === 0 ? 'is over for the server, ending it' : 'canceled, ending it'
    case 'rebooting':
      return 'goes on after the next boot'
    case 'leftovers-ended':
      return `ended what was left of it: process groups ${event.groups.join(', ')}`
    case 'ended':
      return event.reason === undefined ? event.status : `${event.status}: ${event.reason}`
    case 'reported':
      return `reported as ${event.status}`
    case 'not-wanted':
      return `its report is not wanted: ${event.message}`
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
