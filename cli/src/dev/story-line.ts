// What simulated devices do, as lines for a person.

import type { FleetCounts, FleetEvent } from '@jobcast/sim'

/** Undefined when there are none. */
export function onlineLine({ online }: FleetCounts): string | undefined {
  return online > 0 ? `${online} simulated devices are online` : undefined
}

/** Undefined for what is not worth a line. */
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
      return `${subjectOf(event)}: ended without its device`
    case 'refused':
      return `${event.deviceId} is simulated no more: it has a new token`
    default:
      return undefined
  }
}

/** A device learns no job's name, but its document; that of the sample job names its handler. */
function subjectOf({ deviceId, jobId, document }: Extract<FleetEvent, { jobId: string }>): string {
  const { handler } = document
  const work = typeof handler === 'string' ? `${handler} on ` : ''
  return `execution ${jobId}, ${work}${deviceId}`
}
