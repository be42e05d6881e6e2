// A query of query-core in a component: it is read when the component is shown, and redrawn when it changes.

import { type QueryKey, QueryObserver, type QueryObserverResult } from '@tanstack/query-core'
import { useEffect, useLayoutEffect, useReducer, useState } from 'preact/hooks'
import { queryClient } from './query-client.ts'

type QueryOptions<T> = {
  queryKey: QueryKey
  queryFn: (context: { signal: AbortSignal }) => Promise<T>
  enabled?: boolean
  refetchInterval?: number
  staleTime?: number
  structuralSharing?: boolean
}

export function useQuery<T>(options: QueryOptions<T>): QueryObserverResult<T, Error> {
  const whole = queryClient.defaultQueryOptions(options)
  const [observer] = useState(() => new QueryObserver<T, Error, T, T>(queryClient, whole))
  const [, draw] = useReducer((count: number, _: unknown) => count + 1, 0)
  useEffect(() => observer.subscribe(draw), [observer])
  useLayoutEffect(() => observer.setOptions(whole))
  // Reading begins after the first drawing, which therefore has isPending but not isFetching.
  return observer.getOptimisticResult(whole)
}
