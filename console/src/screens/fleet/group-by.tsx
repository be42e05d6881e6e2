// The property by which the devices of the fleet are counted. It is in the address, so that wall mode and saved links keep it.

import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { setSearch } from '../../router.ts'

const attributesAtMost = 30

export default function GroupBy({ by, hasMap }: { by: string; hasMap: boolean }) {
  const { data } = useQuery(queries.firstDevices())
  const names = new Set(
    (data?.items ?? []).flatMap(({ attributes, reportedAttributes }) => [
      ...Object.keys(attributes),
      ...Object.keys(reportedAttributes),
    ]),
  )
  if (by !== '' && by !== 'tag' && by !== 'group') names.add(by)
  names.delete('timeZone')
  return (
    <label class="group-by">
      <span class="quiet" aria-hidden="true">
        By
      </span>
      <select
        aria-label="Count devices by"
        value={by}
        onChange={(event) => setSearch({ by: event.currentTarget.value })}
      >
        {hasMap && <option value="">device</option>}
        <option value="tag">tag</option>
        <option value="group">group</option>
        <option value="timeZone">time zone</option>
        {[...names]
          .sort()
          .slice(0, attributesAtMost)
          .map((name) => (
            <option key={name}>{name}</option>
          ))}
      </select>
    </label>
  )
}
