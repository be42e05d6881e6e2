import type { AuditEntry } from '@jobcast/client'

/** The name of the principal, with a link to all of its entries. */
export function Principal({ entry: { principal, name } }: { entry: AuditEntry }) {
  return (
    <a href={`/audit?principal=${encodeURIComponent(principal)}`} title={principal}>
      <bdi>{name ?? principal}</bdi>
    </a>
  )
}
