// The next times of a schedule before it is saved.

import { now, timeZone as ownZone } from '../../parts/time.ts'
import { formatInZone } from '../../parts/zoned-time.ts'
import { type ScheduleDraft, scheduleProblems, untilOf, whenOf } from './schedule-draft.ts'
import { timesOfDraft } from './times-of-draft.ts'

const shown = 5

export default function PreviewTimes({ draft }: { draft: ScheduleDraft }) {
  const problems = scheduleProblems(draft)
  if (problems.cron || problems.timeZone || problems.except || problems.until) return null
  const zone = draft.timeZone.trim()
  const { times, problem } = timesOfDraft(
    { when: whenOf(draft), except: draft.except, until: untilOf(draft) },
    { after: now.value, count: shown },
  )
  if (problem) return <p class="field-error">{problem}</p>
  if (times.length === 0) return <p class="quiet">There are no further occurrences.</p>
  return (
    <section class="preview-times" aria-label="Next occurrences">
      <p class="quiet">Next, in {zone} time</p>
      <ol>
        {times.map((at) => (
          <li key={at}>
            {formatInZone(at, zone)}
            {zone !== ownZone && (
              <span class="quiet">
                {' '}
                {formatInZone(at, ownZone)} {ownZone}
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
