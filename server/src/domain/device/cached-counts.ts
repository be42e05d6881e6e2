// Counts that read many devices or executions (state/cached-counts.ts).

export type CachedCounts = {
  /** Counts of one owner run in sequence; the result is cached, by owner and question. */
  read<Result>(ownerNo: number, question: unknown[], count: () => Promise<Result>): Promise<Result>
}
