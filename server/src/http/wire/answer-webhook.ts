import type { Webhook } from '@jobcast/contract'
import type { Caller } from '../../domain/access/caller.ts'
import { type NameDeps, readKeyNames } from '../../domain/access/key-names.ts'
import type { StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'
import { toWebhook } from './to-wire.ts'

/** Includes the name of its creator. */
export async function answerWebhook(
  { store, now }: NameDeps,
  caller: Caller,
  webhook: StoredWebhook,
): Promise<Webhook> {
  const keyNames = await readKeyNames(store, caller.ownerNo, now(), [webhook.createdBy])
  return toWebhook(webhook, caller, keyNames)
}
