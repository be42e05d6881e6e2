// Unsaved edits of a job, kept until the session ends, so that visiting another screen does not discard them.

import { useEffect, useState } from 'preact/hooks'
import { queryCache } from '../../api/query-cache.ts'
import type { JobDraft } from './job-draft.ts'

type Kept = [JobDraft | undefined, (draft: JobDraft | undefined) => void]

export function useKeptDraft(jobName: string): Kept {
  const queryKey = ['draft', jobName]
  const [draft, setDraft] = useState(() => queryCache.get<JobDraft>(queryKey))
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
      if (next === undefined) queryCache.remove(queryKey)
      else queryCache.set(queryKey, next)
    },
  ]
}
