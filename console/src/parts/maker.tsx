import { whoInWords } from '@jobcast/contract/words'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'

type Props = {
  /** `key:<keyId>`, `user:<subject>`, `enrollment:<enrollmentId>` or `operator`. */
  createdBy: string | null
  createdByName: string | null
  createdBySession?: string | null
}

/** Who created something. Marks revoked keys, because their creations may still be valid. */
export function Maker({ createdBy, createdByName, createdBySession = null }: Props) {
  const { data } = useQuery({ ...queries.firstKeys(), staleTime: 60_000 })
  if (createdBy === null) return <span class="quiet">not recorded</span>
  const key = data?.items.find(({ keyId }) => createdBy === `key:${keyId}`)
  return (
    <span title={createdBySession === null ? createdBy : `${createdBy}, session ${createdBySession}`}>
      <bdi>{whoInWords(createdBy, createdByName ?? key?.keyName ?? null)}</bdi>
      {key?.revokedAt && <span class="quiet"> · revoked</span>}
    </span>
  )
}
