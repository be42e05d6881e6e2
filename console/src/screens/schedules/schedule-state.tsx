import type { Schedule } from '@jobcast/client'

export function ScheduleState({ schedule }: { schedule: Schedule }) {
  return <span class={`schedule-state ${stateOf(schedule)}`}>{stateOf(schedule)}</span>
}

/** A schedule with match never ends; any other has ended if there is no next time. */
export function stateOf({ paused, nextAt, when }: Schedule): 'paused' | 'active' | 'ended' {
  if (paused) return 'paused'
  return nextAt !== null || when.match ? 'active' : 'ended'
}
