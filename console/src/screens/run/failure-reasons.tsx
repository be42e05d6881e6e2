// Why devices of a run failed: reasons with counts, and properties that their devices have in common.

import type { Run, RunFailures } from '@jobcast/client'
import { termText } from '@jobcast/contract/selector'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { failuresOf, formatCount } from '../../parts/exec-state.ts'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { useScopes } from '../../scopes.ts'
import type { GroupOf } from './group-of-failed.tsx'

const GroupOfFailed = lazyPart<GroupOf & { onClose: () => void }>(() => import('./group-of-failed.tsx'))

const shownAtMost = 8
/** Up to this number, reasons are read again with each new failure; with more, every ten seconds. */
const readEach = 50
const readEveryMs = 10_000

export default function FailureReasons({ run }: { run: Run }) {
  const failures = failuresOf(run.counts)
  const { can, isRestricted } = useScopes()
  const canGroup = can('MANAGE') && !isRestricted
  const { data } = useQuery({
    ...queries.failuresOf(run.runId, run.finished ? failures : Math.min(failures, readEach)),
    enabled: failures > 0,
    ...(!run.finished && failures > readEach && { refetchInterval: readEveryMs }),
  })
  if (failures === 0 || !data || data.total === 0) return null
  return (
    <section aria-labelledby="reasons" class="reasons">
      <h2 id="reasons">Why devices failed</h2>
      <ol>
        {data.reasons.slice(0, shownAtMost).map((each) => (
          <Reason key={each.reason} {...each} />
        ))}
      </ol>
      {data.reasons.length > shownAtMost && (
        <p class="quiet">and {formatCount(data.reasons.length - shownAtMost)} more reasons</p>
      )}
      {canGroup && <GroupButton of={{ run }}>Make a group of them</GroupButton>}
      {data.shared.length > 0 && <Shared shared={data.shared.slice(0, shownAtMost)} canGroup={canGroup} />}
    </section>
  )
}

function GroupButton({ of, children }: { of: GroupOf; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen && <GroupOfFailed {...of} onClose={() => setOpen(false)} />}
    </>
  )
}

function Reason({ reason, count, sample }: RunFailures['reasons'][number]) {
  return (
    <li>
      <details>
        <summary>
          <bdi>{reason}</bdi> <span class="quiet">× {formatCount(count)}</span>
        </summary>
        <ul>
          {sample.map((deviceId) => (
            <li key={deviceId}>
              <a href={`/devices/${encodeURIComponent(deviceId)}`}>{deviceId}</a>
            </li>
          ))}
        </ul>
        {count > sample.length && <p class="quiet">and {formatCount(count - sample.length)} more</p>}
      </details>
    </li>
  )
}

function Shared({ shared, canGroup }: Pick<RunFailures, 'shared'> & { canGroup: boolean }) {
  return (
    <>
      <h3 id="shared">More frequent among failed devices than among successful ones</h3>
      <ul aria-labelledby="shared">
        {shared.map(({ name, value, failed, ofFailed, succeeded, ofSucceeded }) => {
          const where = termText(name, value)
          return (
            <li key={where}>
              <a href={`/devices?where=${encodeURIComponent(where)}`}>
                <bdi>{where}</bdi>
              </a>{' '}
              <span class="quiet">
                {formatCount(failed)} of {formatCount(ofFailed)}
                {ofSucceeded > 0 && `, successful ${formatCount(succeeded)} of ${formatCount(ofSucceeded)}`}
              </span>
              {canGroup && (
                <GroupButton of={{ where }}>
                  Make a group<span class="hidden"> of {where}</span>
                </GroupButton>
              )}
            </li>
          )
        })}
      </ul>
    </>
  )
}
