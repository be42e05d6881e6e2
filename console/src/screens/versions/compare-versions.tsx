import type { JobVersion } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { SideBySide } from '../../diff/side-by-side.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'

/** Compares the content of two versions, not their authors and times. */
export function CompareVersions({ jobName, from, to }: { jobName: string; from: number; to: number }) {
  // Versions are immutable.
  const staleTime = Number.POSITIVE_INFINITY
  const before = useQuery({ ...queries.jobVersion(jobName, from), staleTime })
  const after = useQuery({ ...queries.jobVersion(jobName, to), staleTime })
  return (
    <section class="panel stack" aria-labelledby="compare">
      <header>
        <h2 id="compare">{from === to ? `Version ${from}` : `From version ${from} to ${to}`}</h2>
      </header>
      <ErrorNote error={before.error ?? after.error} />
      {from === to && <p class="quiet">Choose two versions to compare them.</p>}
      {from !== to && before.data && after.data && (
        <SideBySide
          label={`Version ${from} and version ${to}`}
          before={{ name: `Version ${from}`, text: textOf(before.data) }}
          after={{ name: `Version ${to}`, text: textOf(after.data) }}
        />
      )}
    </section>
  )
}

function textOf(version: JobVersion): string {
  const { jobName, version: number, isCurrent, createdAt, createdBy, createdByName, ...content } = version
  return JSON.stringify(content, null, 2)
}
