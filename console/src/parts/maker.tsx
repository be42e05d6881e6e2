import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'

type Props = {
  /** `key:<keyId>`, `enrollment:<enrollmentId>` or `operator`. */
  createdBy: string | null
  createdBySession?: string | null
}

/** Who created something. A key that was revoked says so: what it created may still be valid. */
export function Maker({ createdBy, createdBySession = null }: Props) {
  const { data } = useQuery({ ...queries.firstKeys(), staleTime: 60_000 })
  if (createdBy === null) return <span class="quiet">not recorded</span>
  const key = data?.items.find(({ keyId }) => createdBy === `key:${keyId}`)
  return (
    <span title={createdBySession === null ? createdBy : `${createdBy}, session ${createdBySession}`}>
      {key ? `key ${key.keyName}` : createdBy}
      {key?.revokedAt && <span class="quiet"> · revoked</span>}
    </span>
  )
}
