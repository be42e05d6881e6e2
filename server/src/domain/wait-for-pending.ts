// The long poll of a device without a lasting connection: holds its question until something is pending.

import { setTimeout as rest } from 'node:timers/promises'
import { deviceText } from './device-link.ts'
import type { ChangeSignal } from './ports/change-signal.ts'
import type { DeviceKey } from './ports/devices.ts'
import type { Store } from './ports/store.ts'
import type { CredentialChanges } from './sign-in.ts'
import type { Patience } from './wait-for-end.ts'

export type PendingDeps = {
  store: Pick<Store, 'readQueues'>
  /** Told, by `deviceText`, when the queue of a device has changed. */
  queues: ChangeSignal<string>
  credentialChanges: CredentialChanges
  presence: { seenByHttp(device: DeviceKey): void }
  stopping: AbortSignal
}

/**
 * A hint that got lost costs little more than this (5 s are promised), a device that is let in no longer is noticed by then, and one that
 * waits is seen so often.
 */
const lookAgainMs = 4000
/** A little less, so that every look that nobody has asked for is such a check. */
const checkAgainMs = 3900
/** Between two looks that found nothing. */
const restMs = 50

/**
 * Resolves once something is pending, the time is over, the device is gone, or the caller or the service goes.
 * `checkSignIn` is asked whenever a credential has changed, and now and then because nobody may have told of it; what
 * it throws ends the wait.
 */
export async function waitForPending(
  deps: PendingDeps,
  device: DeviceKey,
  { waitMs, callerGone }: Patience,
  checkSignIn: () => Promise<unknown>,
): Promise<void> {
  const until = performance.now() + waitMs
  const abort = AbortSignal.any([callerGone, deps.stopping])
  // Before the read, so that a change during the read is not missed.
  const watch = deps.queues.openWatch(deviceText(device))
  let changes = deps.credentialChanges.count
  let checkedAt = performance.now()
  let mark: number | undefined
  try {
    for (let looks = 1; ; looks++) {
      const [queue] = await deps.store.readQueues([{ ...device, unlessMark: mark }])
      if (queue === undefined) return
      if (queue !== 'unchanged') {
        if (queue.total > 0) return
        mark = queue.mark
      }
      const left = until - performance.now()
      if (left <= 0 || abort.aborted) return
      // The first hint is answered at once; many that lead to nothing cost twenty looks a second.
      if (looks > 1) await rest(Math.min(restMs, left))
      await watch.nextChange(Math.min(lookAgainMs, until - performance.now()), abort)
      const isLongAgo = performance.now() - checkedAt >= checkAgainMs
      if (deps.credentialChanges.count !== changes || isLongAgo) {
        changes = deps.credentialChanges.count
        await checkSignIn()
        checkedAt = performance.now()
      }
      if (!callerGone.aborted) deps.presence.seenByHttp(device)
    }
  } finally {
    watch.close()
  }
}
