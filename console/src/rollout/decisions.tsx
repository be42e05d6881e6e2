// Approvals and denials of a run, with comments.

import type { Run } from '@jobcast/client'
import { principalWord } from '../parts/principal-word.ts'
import { RelativeTime } from '../parts/relative-time.tsx'

const words = { APPROVED: 'Approved', DENIED: 'Denied' }

export default function Decisions({ run: { approvals, rollout } }: { run: Run }) {
  const { required = 1, given = 0 } = rollout?.approval ?? {}
  return (
    <>
      {required > 1 && (
        <p>
          {given} of {required} approvals
        </p>
      )}
      {approvals.length > 0 && (
        <ul class="decisions" aria-label="Decisions">
          {approvals.map(({ principal, name, at, decision, comment }) => (
            <li key={`${principal} ${at}`}>
              {words[decision]} by {principalWord(principal)}
              <bdi>{name ?? principal.replace(/^(?:key|user):/, '')}</bdi> <RelativeTime at={at} />
              {comment !== null && `: ${comment}`}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
