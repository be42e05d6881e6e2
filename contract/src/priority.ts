// Which of the executions that wait on a device is offered first. Free of schemas.

/** For what has no other. */
export const defaultPriority = 5

/** As it is given. */
export const Priority = { minimum: 0, maximum: 9 } as const

/** As it is shown. */
export const shownPriority = {
  ...Priority,
  description: 'Of the executions that wait on a device, those with a higher priority are offered first',
} as const
