/** What a call may list unless the service is set up otherwise; more are selected by the server. */
export const listedAtMost = 10_000
