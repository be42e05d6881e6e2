// Secrets: write-only values for devices.

import { type Secret, secrets, toInstant } from '@jobcast/contract'
import { type KeyNames, nameOf } from '../../domain/access/key-names.ts'
import type { SecretUsers, StoredSecret } from '../../domain/secret/ports/secrets.ts'
import { deleteSecret, getSecret, putSecret, type SecretDeps } from '../../domain/secret/secret.ts'
import type { App } from '../app-type.ts'
import { serveResource } from './serve-resource.ts'

export function addSecrets(app: App, deps: SecretDeps): void {
  serveResource(app, secrets, {
    put: (...put) => putSecret(deps, ...put),
    get: (...secret) => getSecret(deps, ...secret),
    list: ({ ownerNo }, slice) => deps.store.listSecrets({ ownerNo, slice }),
    delete: (caller, secretName) => deleteSecret(deps, caller, secretName),
    toView: (secret, _caller, keyNames) => toSecret(secret, keyNames),
    makers: { of: ({ updatedBy }) => updatedBy, deps },
  })
}

/** Field by field, so that the value is never returned. */
function toSecret({ secretName, updatedAt, updatedBy, usedBy }: StoredSecret, keyNames: KeyNames): Secret {
  return {
    secretName,
    updatedAt: toInstant(updatedAt),
    updatedBy,
    updatedByName: nameOf(keyNames, updatedBy),
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
