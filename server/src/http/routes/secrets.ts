// Secrets: values for devices that nobody can read back.

import { type Secret, secrets, toInstant } from '@jobcast/contract'
import { type KeyNames, readKeyNames } from '../../domain/access/key-names.ts'
import type { SecretUsers, StoredSecret } from '../../domain/secret/ports/secrets.ts'
import { deleteSecret, getSecret, putSecret, type SecretDeps } from '../../domain/secret/secret.ts'
import type { App } from '../app-type.ts'
import { serveResource } from './serve-resource.ts'

type NamedSecret = StoredSecret & { keyNames: KeyNames }

export function addSecrets(app: App, deps: SecretDeps): void {
  const { store, now } = deps
  const named = async (ownerNo: number, found: StoredSecret[]): Promise<NamedSecret[]> => {
    const makers = found.map(({ updatedBy }) => updatedBy)
    const keyNames = await readKeyNames(store, ownerNo, now(), makers)
    return found.map((secret) => ({ ...secret, keyNames }))
  }
  const nameOne = async (ownerNo: number, found: StoredSecret) =>
    (await named(ownerNo, [found]))[0] as NamedSecret

  serveResource(app, secrets, {
    async put(caller, ...put) {
      const { created, value } = await putSecret(deps, caller, ...put)
      return { created, value: await nameOne(caller.ownerNo, value) }
    },
    get: async (caller, secretName) => nameOne(caller.ownerNo, await getSecret(deps, caller, secretName)),
    async list({ ownerNo }, slice) {
      const { items, next } = await store.listSecrets({ ownerNo, slice })
      return { items: await named(ownerNo, items), next }
    },
    delete: (caller, secretName) => deleteSecret(deps, caller, secretName),
    toView: toSecret,
  })
}

/** Field by field: never the value. */
function toSecret({ secretName, updatedAt, updatedBy, usedBy, keyNames }: NamedSecret): Secret {
  return {
    secretName,
    updatedAt: toInstant(updatedAt),
    updatedBy,
    updatedByName: keyNames(updatedBy)?.keyName ?? null,
    usedBy: subjectsOf(usedBy),
  }
}

function subjectsOf({ jobNames, scheduleNames, runIds }: SecretUsers): string[] {
  return [
    ...jobNames.map((name) => `job:${name}`),
    ...scheduleNames.map((name) => `schedule:${name}`),
    ...runIds.map((runId) => `run:${runId}`),
  ]
}
