// Long polling over HTTP: holds a device's request until something is pending.

import { setTimeout as sleep } from 'node:timers/promises'
import type { CredentialChanges } from '../access/sign-in.ts'
import type { Store } from '../common/ports/store.ts'
import type { DeviceKey } from '../device/device-key.ts'
import { deviceText } from '../device/ports/device-link.ts'
import type { ChangeSignal } from '../event/ports/change-signal.ts'
import type { WaitLimit } from './wait-for-end.ts'

export type PendingDeps = {
  store: Pick<Store, 'readQueues'>
  /** Signals, by `deviceText`, that the queue of a device has changed. */
  queues: ChangeSignal<string>
  credentialChanges: CredentialChanges
  presence: { seenByHttp(device: DeviceKey): void }
  stopping: AbortSignal
}

/**
 * Bounds the delay after a lost signal (5 s are promised) and after a lost credential change, and is how often a waiting
 * device is recorded as seen.
 */
const pollEveryMs = 4000
/** Slightly less, so that every poll without a signal also checks the credential. */
const checkSignInEveryMs = 3900
/** Delay between two reads that found nothing. */
const pollDelayMs = 50

/**
 * Resolves once something is pending, the time is over, the device was deleted, the caller disconnects or the server
 * stops. `checkSignIn` is called whenever a credential has changed, and periodically in case that signal was lost; an
 * error from it ends the wait.
 */
export async function waitForPending(
  deps: PendingDeps,
  device: DeviceKey,
  { waitMs, callerGone }: WaitLimit,
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
    for (let reads = 1; ; reads++) {
      const [queue] = await deps.store.readQueues([{ ...device, unlessMark: mark }])
      if (queue === undefined) return
      if (queue !== 'unchanged') {
        if (queue.total > 0) return
        mark = queue.mark
      }
      const left = until - performance.now()
      if (left <= 0 || abort.aborted) return
      // The first signal is handled at once; repeated ones without effect cost at most twenty reads a second.
      if (reads > 1) await sleep(Math.min(pollDelayMs, left))
      await watch.nextChange(Math.min(pollEveryMs, until - performance.now()), abort)
      const isCheckDue = performance.now() - checkedAt >= checkSignInEveryMs
      if (deps.credentialChanges.count !== changes || isCheckDue) {
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
