/** The version of the job that a retry uses: that of the run, or the current one. */
export const retryVersions = ['SAME', 'NEWEST'] as const
export type RetryVersion = (typeof retryVersions)[number]
