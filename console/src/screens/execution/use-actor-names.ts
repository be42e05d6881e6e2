// Who did something, as people know it: `key <keyId>` becomes the name of the key.

import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'

export function useActorNames(): (actor: string) => string {
  const { data } = useQuery({ ...queries.firstKeys(), staleTime: 60_000 })
  const names = new Map(data?.items.map(({ keyId, keyName }) => [`key ${keyId}`, `key “${keyName}”`]))
  return (actor) => names.get(actor) ?? actor
}
