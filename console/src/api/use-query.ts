// A cached response in a component: it is read when the component is shown, and redrawn when it changes.

import { useEffect, useReducer } from 'preact/hooks'
import { readBudget } from '../live/read-budget.ts'
import type { QueryOptions } from './query.ts'
import { queryCache } from './query-cache.ts'

type QueryResult<T> = {
  /** Undefined until it is read. */
  data: T | undefined
  /** Of the last read. */
  error: unknown
  isPending: boolean
  isEnabled: boolean
  refetch: () => Promise<void>
}

export function useQuery<T>(options: QueryOptions<T>): QueryResult<T> {
  const { enabled: isEnabled = true, refetchInterval, staleTime } = options
  const query = queryCache.open(options)
  const { data, error, version, refetch } = query
  const [, draw] = useReducer((count: number, _: undefined) => count + 1, 0)
  const onChange = () => draw(undefined)
  useEffect(() => {
    // It may have changed since the drawing.
    if (query.version !== version) onChange()
    return query.watch({ isEnabled, onChange })
  }, [query, isEnabled, staleTime])
  useEffect(() => {
    if (!isEnabled || refetchInterval === undefined) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'hidden' || query.isReading) return
      readBudget.spend(1)
      void query.read()
    }, refetchInterval)
    return () => clearInterval(timer)
  }, [query, isEnabled, refetchInterval, version])
  return { data, error, isPending: data === undefined && error === undefined, isEnabled, refetch }
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState !== 'hidden') queryCache.readStale()
})
