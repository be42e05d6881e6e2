// Checks all invariants of a history, and returns violations as sentences.

import { checkCalls } from './check-calls.ts'
import { checkFollower, checkLog, checkWebhook } from './check-events.ts'
import { checkExecutions, checkSteps } from './check-executions.ts'
import { checkRollouts } from './check-rollouts.ts'
import { checkSchedules } from './check-schedules.ts'
import { checkWindows } from './check-windows.ts'
import type { Final, History } from './history.ts'

export function checkHistory(history: History, final: Final): string[] {
  return [
    ...checkCalls(history, final),
    ...checkExecutions(final),
    ...checkSteps(history, final),
    ...checkLog(final),
    ...checkRollouts(final, history.patched),
    ...checkSchedules(history.schedules ?? [], final),
    ...checkWindows(history.windows ?? [], final),
    ...history.followers.flatMap((seen, index) =>
      checkFollower(seen, final.log).map((what) => `follower ${index + 1} ${what}`),
    ),
    ...checkWebhook(history.posts, final).map((what) => `the webhook ${what}`),
  ]
}
