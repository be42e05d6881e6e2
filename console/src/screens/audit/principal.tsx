import type { AuditEntry } from '@jobcast/client'

/** Who it was, by name; leads to everything that they have done. */
export function Principal({ entry: { principal, name } }: { entry: AuditEntry }) {
  return (
    <a href={`/audit?principal=${encodeURIComponent(principal)}`} title={principal}>
      <bdi>{name ?? principal}</bdi>
    </a>
  )
}
