/** The default maximum of devices that a call may list; for more, the server selects them. */
export const listedAtMost = 10_000
