import type { Schedule } from '@jobcast/client'

export function ScheduleState({ schedule }: { schedule: Schedule }) {
  return <span class={`schedule-state ${stateOf(schedule)}`}>{stateOf(schedule)}</span>
}

/** One with match waits for devices; any other has ended when nothing comes next. */
export function stateOf({ paused, nextAt, when }: Schedule): 'paused' | 'active' | 'ended' {
  if (paused) return 'paused'
  return nextAt !== null || when.match ? 'active' : 'ended'
}
