// How runs of the simulation and of the history are released.

import type { Rollout } from '@jobcast/contract'
import type { Random } from '@jobcast/testkit/seeded-random'

export const rates = [7, 45, 60, 90, 180, 333, 600, 700, 900, 6000]

/** Not so slow that its last device waits for longer than a minute. */
export function pickRollout(random: Random, devices: number): Rollout {
  const fitting = rates.filter((rate) => rate >= devices)
  const ratePerMinute = random.pick([undefined, ...fitting])
  const waves = random.chance(0.5) ? [{ size: 1 }, { size: '100%' }] : undefined
  const action = random.pick(['CONTINUE', 'CONTINUE', 'PAUSE', 'APPROVAL'] as const)
  const growth = random.chance(0.3) ? { factor: 1.5, afterSucceeded: 1 } : undefined
  return {
    // The devices of a run are compared with those of its call.
    order: 'GIVEN',
    ...(waves && { waves, next: { action } }),
    ...(ratePerMinute !== undefined && { ratePerMinute, ...(growth && { growth }) }),
    ...(random.chance(0.2) && { stop: [{ on: ['FAILED' as const], count: 1 }] }),
  }
}
