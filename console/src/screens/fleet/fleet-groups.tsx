// A fleet of more devices than can be drawn: counted by the server, all of them and by tag. Each tag is a bar.

import type { FleetGroups as Groups } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount, stateOrder, stateStyles } from '../../parts/exec-state.ts'
import { formatClock, parseTime } from '../../parts/time.ts'
import { type CellTone, toneWords } from './cell-tone.ts'
import { Legend } from './legend.tsx'

type Group = Pick<Groups['groups'][number], 'devices' | 'online' | 'states'>

const shownAtFirst = 12

export function FleetGroups() {
  const { data, error } = useQuery(queries.fleetGroups())
  const [isLong, setLong] = useState(false)
  const groups = data?.groups ?? []
  return (
    <section class="panel fleet-map" aria-labelledby="fleet-map">
      <header>
        <h2 id="fleet-map">Devices by execution</h2>
        <a href="/devices">All devices</a>
      </header>
      {!data && <ErrorNote error={error} />}
      {!data && !error && (
        <p class="quiet" role="status">
          Counting devices.
        </p>
      )}
      {data && (
        <>
          <Legend counts={tonesOf(data.all)}>
            <span class="quiet">as of {formatClock(parseTime(data.asOf))}</span>
          </Legend>
          <GroupBar group={data.all} label="All devices" />
          <table class="fleet-groups">
            <thead>
              <tr>
                <th scope="col">Tag</th>
                <th scope="col">Devices</th>
                <th scope="col">Online</th>
                <th scope="col">States</th>
              </tr>
            </thead>
            <tbody>
              {groups.slice(0, isLong ? groups.length : shownAtFirst).map((group) => (
                <tr key={group.tag ?? ''}>
                  <th scope="row">
                    {group.tag === null ? (
                      <span class="quiet">no tag</span>
                    ) : (
                      <a href={`/devices?tag=${encodeURIComponent(group.tag)}`}>{group.tag}</a>
                    )}
                  </th>
                  <td>{formatCount(group.devices)}</td>
                  <td>{percent(group.online, group.devices)}</td>
                  <td>
                    <GroupBar group={group} label={group.tag ?? 'no tag'} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {!isLong && groups.length > shownAtFirst && (
            <button type="button" class="ghost" onClick={() => setLong(true)}>
              Show {formatCount(groups.length - shownAtFirst)} more
            </button>
          )}
          {data.otherGroups > 0 && (
            <p class="quiet">{formatCount(data.otherGroups)} smaller tags are left out.</p>
          )}
        </>
      )}
    </section>
  )
}

function GroupBar({ group, label }: { group: Group; label: string }) {
  const counts = tonesOf(group)
  const shown = toneWords.filter(({ tone }) => counts[tone] > 0)
  const words = shown.map(({ tone, word }) => `${formatCount(counts[tone])} ${word}`).join(', ')
  return (
    <div class="state-bar" role="img" aria-label={`${label}: ${words}`} title={words}>
      {shown.map(({ tone }) => (
        <span
          key={tone}
          class={`tone-${tone}`}
          style={{ flexGrow: counts[tone] / group.devices, minWidth: '3px' }}
        />
      ))}
    </div>
  )
}

function tonesOf({ states }: Group): Record<CellTone, number> {
  const counts = { bad: 0, running: 0, waiting: 0, good: 0, off: 0, none: states.NONE ?? 0 }
  for (const state of stateOrder) counts[stateStyles[state].tone] += states[state] ?? 0
  return counts
}

/** Never 100 % when it is less. */
function percent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.floor((100 * part) / whole)} %`
}
