// Unsaved edits of a job, kept while the tab is open, so that visiting another screen does not discard them.

import { useEffect, useState } from 'preact/hooks'
import { queryClient } from '../../api/query-client.ts'
import type { JobDraft } from './job-draft.ts'

// Stored in the cache, which is cleared when the session ends.
queryClient.setQueryDefaults(['draft'], { gcTime: Number.POSITIVE_INFINITY })

type Kept = [JobDraft | undefined, (draft: JobDraft | undefined) => void]

export function useKeptDraft(jobName: string): Kept {
  const queryKey = ['draft', jobName]
  const [draft, setDraft] = useState(() => queryClient.getQueryData<JobDraft>(queryKey))
  useEffect(() => {
    if (draft === undefined) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [draft === undefined])
  return [
    draft,
    (next) => {
      setDraft(next)
      if (next === undefined) queryClient.removeQueries({ queryKey })
      else queryClient.setQueryData(queryKey, next)
    },
  ]
}
