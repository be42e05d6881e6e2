// The cache of API responses. Events invalidate it (live/).

import { QueryClient } from '@tanstack/query-core'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      gcTime: 5 * 60_000,
      retry: false, // the client already retries
      networkMode: 'always', // the service may be on this machine
    },
  },
})
queryClient.mount()
