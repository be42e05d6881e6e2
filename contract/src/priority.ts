// The order in which waiting executions are offered to a device. This file imports no schemas.

/** Used if no priority is given. */
export const defaultPriority = 5

/** The field in requests. */
export const Priority = { minimum: 0, maximum: 9 } as const

/** The field in responses. */
export const shownPriority = {
  ...Priority,
  description: 'Of the pending executions of a device, those with a higher priority are offered first',
} as const
