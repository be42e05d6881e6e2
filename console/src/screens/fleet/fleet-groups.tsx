// Devices counted by the server by tag, group, or attribute. Each value is a bar with a link to its devices.

import type { FleetGroups as Groups } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount, stateOrder, stateStyles } from '../../parts/exec-state.ts'
import { formatClock, parseTime } from '../../parts/time.ts'
import { quote } from '../../selector/selector-text.ts'
import { type CellTone, toneWords } from './cell-tone.ts'
import { Legend } from './legend.tsx'

type Group = Pick<Groups['groups'][number], 'devices' | 'online' | 'states'>

const shownAtFirst = 12

export default function FleetGroups({ by }: { by: string }) {
  const { data, error } = useQuery(queries.fleetGroups(by))
  const [isLong, setLong] = useState(false)
  const groups = data?.groups ?? []
  const nothing = by === 'tag' ? 'no tag' : by === 'group' ? 'in none of these groups' : `no ${by}`
  const largest = Math.max(1, ...groups.map(({ devices }) => devices))
  return (
    <>
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
                <th scope="col">{by === 'tag' ? 'Tag' : by === 'group' ? 'Group' : by}</th>
                <th scope="col">Devices</th>
                <th scope="col">Online</th>
                <th scope="col">States</th>
              </tr>
            </thead>
            <tbody>
              {groups.slice(0, isLong ? groups.length : shownAtFirst).map((group) => (
                <tr key={group.value ?? ''}>
                  <th scope="row">
                    {group.value === null ? (
                      <span class="quiet">{nothing}</span>
                    ) : (
                      <a href={`/devices?${new URLSearchParams({ where: whereOf(by, group.value) })}`}>
                        <bdi>{group.value}</bdi>
                      </a>
                    )}
                  </th>
                  <td>{formatCount(group.devices)}</td>
                  <td>{percent(group.online, group.devices)}</td>
                  <td>
                    <div style={{ width: `${Math.max(4, (100 * group.devices) / largest)}%` }}>
                      <GroupBar group={group} label={group.value ?? nothing} />
                    </div>
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
            <p class="quiet">{formatCount(data.otherGroups)} smaller ones are left out.</p>
          )}
          {by === 'group' && <p class="quiet">Of more than 100 groups, the first 100 by name are counted.</p>}
        </>
      )}
    </>
  )
}

/** The selector of the counted devices. */
function whereOf(by: string, value: string): string {
  return `${by}=${quote(value)}`
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

/** Values below 100 % are never rounded up to it. */
function percent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.floor((100 * part) / whole)} %`
}
