import type { ExecState } from '@jobcast/contract'

/** In a run, the count of a state is the column of its name. */
export const countColumn = (state: ExecState): string => state.toLowerCase()
