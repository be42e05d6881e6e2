// Who has changed a window or the selector of a group, for the four-eyes rule: a run that waits for approval may depend on
// both.

/** `lineage`: see lineage.ts. `at`: the time of its last change. */
export type Changer = { lineage: string; at: number }

/** Older changers are dropped. */
const maxChangers = 100

/** `before`: null if unknown. */
export function withChanger(before: readonly Changer[] | null, { lineage, at }: Changer): Changer[] {
  const others = (before ?? []).filter((each) => each.lineage !== lineage)
  return [...others, { lineage, at }].slice(-maxChangers)
}

/** Who created and changed something, as stored with it. Null: unknown. */
export type Made = { changers: Changer[] | null; createdBy: string | null; updatedBy: string | null }

/** The part for audit entries, which have a field of their own for the principal. */
export function withoutMakers<Of extends Made>(of: Of): Omit<Of, keyof Made> {
  const { changers: _, createdBy: __, updatedBy: ___, ...content } = of
  return content
}

/** Lineages of those who changed it since then. */
export function changersSince(changers: readonly Changer[] | null, since: number): string[] {
  return (changers ?? []).flatMap(({ lineage, at }) => (at >= since ? [lineage] : []))
}
