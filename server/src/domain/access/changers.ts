// Who has changed a window or the selector of a group, for four eyes: a run that waits for approval may depend on both.

/** `lineage`: see lineage.ts. `at`: when it has changed it last. */
export type Changer = { lineage: string; at: number }

/** The last ones are kept. */
const maxChangers = 100

/** `before`: null if nobody is known. */
export function withChanger(before: readonly Changer[] | null, { lineage, at }: Changer): Changer[] {
  const others = (before ?? []).filter((each) => each.lineage !== lineage)
  return [...others, { lineage, at }].slice(-maxChangers)
}

/** What others see of it. */
export function withoutChangers<Of extends { changers: unknown }>(of: Of): Omit<Of, 'changers'> {
  const { changers: _, ...shown } = of
  return shown
}

/** Their lineages. */
export function changersSince(changers: readonly Changer[] | null, since: number): string[] {
  return (changers ?? []).flatMap(({ lineage, at }) => (at >= since ? [lineage] : []))
}
