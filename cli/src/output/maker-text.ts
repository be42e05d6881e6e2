/** Who created something, for a column of a list. */
export function makerText({ createdBy, createdBySession }: Made): string | null {
  return createdBy !== null && createdBySession !== null
    ? `${createdBy} (session ${createdBySession})`
    : createdBy
}

type Made = { createdBy: string | null; createdBySession: string | null }
