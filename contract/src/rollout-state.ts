export const rolloutStates = [
  'SCHEDULED',
  'AWAITING_APPROVAL',
  'ROLLING_OUT',
  'PAUSED',
  'RELEASED',
  'DENIED',
  'ABORTED',
] as const
export type RolloutState = (typeof rolloutStates)[number]
