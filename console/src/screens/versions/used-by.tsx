import type { JobVersion } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { ErrorNote } from '../../parts/error-note.tsx'

/** The runs of a version, read on request. */
export function UsedBy({ version: { jobName, version } }: { version: JobVersion }) {
  const [isOpen, setOpen] = useState(false)
  const { data, error } = useQuery({ ...queries.runsOfVersion(jobName, version), enabled: isOpen })
  return (
    <details class="used-by" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Used by</summary>
      <ErrorNote error={error} />
      {data?.items.length === 0 && <p class="quiet">No run.</p>}
      {data && data.items.length > 0 && (
        <p>
          {data.items.map(({ runId, finished }, index) => (
            <span key={runId}>
              {index > 0 && ', '}
              <a href={`/runs/${runId}`}>run {runId}</a>
              {!finished && ' (unfinished)'}
            </span>
          ))}
          {data.nextCursor !== null && ' and older ones'}
        </p>
      )}
    </details>
  )
}
