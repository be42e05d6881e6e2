// When devices would get the next runs of a schedule that is being edited.

import DeliveryStrip from '../../delivery/delivery-strip.tsx'
import { stripMs } from '../../delivery/read-delivery.ts'
import { now } from '../../parts/time.ts'
import { useSettled } from '../../parts/use-settled.ts'
import { rolloutOf } from '../../rollout/edited-rollout.ts'
import { type ScheduleDraft, scheduleProblems, targetsOf, untilOf, whenOf } from './schedule-draft.ts'
import { timesOfDraft } from './times-of-draft.ts'
import { whereOf } from './where-of.ts'

const runsAtMost = 200

export default function ScheduleDelivery({ draft }: { draft: ScheduleDraft }) {
  const settled = useSettled(draft)
  const { cron, timeZone, except, at, until, where, group, deviceIds, jobName, rollout } =
    scheduleProblems(settled)
  const isWrong = [cron, timeZone, except, at, until, where, group, deviceIds, jobName, rollout].some(Boolean)
  if (isWrong || settled.whenKind === 'match') return null
  const { times } = timesOfDraft(
    { when: whenOf(settled), except: settled.except, until: untilOf(settled) },
    { after: now.value, count: runsAtMost },
  )
  const [first = 0] = times
  return (
    <DeliveryStrip
      jobName={settled.jobName}
      where={whereOf(targetsOf(settled))}
      windowName={settled.window || undefined}
      rollout={rolloutOf(settled.rollout)}
      runs={times.filter((time) => time < first + stripMs)}
    />
  )
}
