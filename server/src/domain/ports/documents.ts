/** The documents of the versions of jobs, as JSON text; at once where it is in memory. */
export type Documents = { get(jobVersion: number): string | Promise<string> }
