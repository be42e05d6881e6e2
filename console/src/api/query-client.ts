// The cache of API answers. Events invalidate it (live/).

import { QueryClient } from '@tanstack/query-core'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      gcTime: 5 * 60_000,
      retry: false, // the client repeats what can be repeated
      networkMode: 'always', // the service may be on this very machine
    },
  },
})
queryClient.mount()
