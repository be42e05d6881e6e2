// Events of simulated devices as lines of text.

import type { FleetCounts, FleetEvent } from '@jobcast/sim'

/** Undefined if none is online. */
export function onlineLine({ online }: FleetCounts): string | undefined {
  return online > 0 ? `${online} simulated devices are online` : undefined
}

/** Undefined for events that are not shown. */
export function storyLine(event: FleetEvent): string | undefined {
  switch (event.kind) {
    case 'started':
      return `${subjectOf(event)}: IN_PROGRESS`
    case 'ended': {
      const seconds = (event.ms / 1000).toFixed(1)
      const why = event.status === 'FAILED' ? `: ${event.reason}` : ''
      return `${subjectOf(event)}: ${event.status} after ${seconds} s${why}`
    }
    case 'abandoned':
      return `${subjectOf(event)}: was ended by the service`
    case 'refused':
      return `${event.deviceId} is no longer simulated: it has a new token`
    default:
      return undefined
  }
}

/** A device gets only the document, not the job's name; the document of the sample job names a handler. */
function subjectOf({ deviceId, jobId, document }: Extract<FleetEvent, { jobId: string }>): string {
  const { handler } = document
  const work = typeof handler === 'string' ? `${handler} on ` : ''
  return `execution ${jobId}, ${work}${deviceId}`
}
