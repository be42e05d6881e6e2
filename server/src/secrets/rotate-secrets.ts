// Encrypts stored secrets with another key. Requires that the embedded database is not in use; nodes on PostgreSQL may be running.

import { renameSync, writeFileSync } from 'node:fs'
import type { SealedCursor } from '../domain/secret/ports/secrets.ts'
import { SecretBox } from '../state/secret-box.ts'
import { DatabaseMissing, StartRefused } from '../store/migrate.ts'
import { checkSchema, describePlace, openStore, type StorePlace } from '../store/open-store.ts'
import { ensureSecretsKeys, newSecretsKey, parseSecretsKeys, secretsKeyFile } from './secrets-key.ts'

const atOnce = 500

/** `keys`: the configured keys; none: the key in the data folder is replaced by a new one. */
export async function rotateSecrets(
  place: StorePlace,
  keys: readonly Buffer[],
): Promise<{ total: number; changed: number }> {
  const { from, to } = await checkSchema(place)
  const where = describePlace(place)
  if (from === 0) throw new DatabaseMissing(`There is no database at ${where}.`)
  if (from !== to)
    throw new StartRefused(`The database at ${where} has a different schema: run "jobcast migrate" first.`)
  if (keys.length === 0 && place.databaseUrl !== undefined) {
    throw new StartRefused('Set JOBCAST_SECRETS_KEY: the new key first, then those that were used before.')
  }
  const { store } = await openStore(place, () => undefined)
  try {
    if (keys.length > 0) return await reencrypt(store, new SecretBox(keys))
    const old = await ensureSecretsKeys(store, { secretsKeys: [], ...place })
    const fresh = newSecretsKey()
    const texts = [fresh, ...old.map((key) => key.toString('base64url'))]
    // Both keys are needed until everything is encrypted again, also after an interruption.
    keep(place.dataFolder, texts)
    const result = await reencrypt(store, new SecretBox(parseSecretsKeys(texts.join('\n')) ?? []))
    keep(place.dataFolder, [fresh])
    return result
  } finally {
    await store.close()
  }
}

type Store = Awaited<ReturnType<typeof openStore>>['store']

async function reencrypt(store: Store, box: SecretBox): Promise<{ total: number; changed: number }> {
  const [ofRuns, named] = [await reencryptRuns(store, box), await reencryptNamed(store, box)]
  return { total: ofRuns.total + named.total, changed: ofRuns.changed + named.changed }
}

async function reencryptNamed(store: Store, box: SecretBox): Promise<{ total: number; changed: number }> {
  let [total, changed] = [0, 0]
  let after: SealedCursor = { ownerNo: 0, secretName: '', version: 0 }
  for (;;) {
    const sealed = await store.listSealedSecrets({ ...after, limit: atOnce })
    const last = sealed.at(-1)
    if (last === undefined) return { total, changed }
    const replaced = sealed.flatMap(({ sealed: before, ...key }) => {
      const text = box.reencrypt(before, key.ownerNo)
      return text === undefined ? [] : [{ ...key, before, sealed: text }]
    })
    if (replaced.length > 0) await store.replaceSealedSecrets({ sealed: replaced })
    total += sealed.length
    changed += replaced.length
    after = { ownerNo: last.ownerNo, secretName: last.secretName, version: last.version }
  }
}

async function reencryptRuns(store: Store, box: SecretBox): Promise<{ total: number; changed: number }> {
  let [total, changed, after] = [0, 0, 0]
  for (;;) {
    const sealed = await store.listSealed({ after, limit: atOnce })
    const last = sealed.at(-1)
    if (last === undefined) return { total, changed }
    const replaced = sealed.flatMap(({ runId, ownerNo, secrets }) => {
      const text = box.reencrypt(secrets, ownerNo)
      return text === undefined ? [] : [{ runId, before: secrets, secrets: text }]
    })
    if (replaced.length > 0) await store.replaceSealed({ sealed: replaced })
    total += sealed.length
    changed += replaced.length
    after = last.runId
  }
}

function keep(dataFolder: string, keys: string[]): void {
  const path = secretsKeyFile(dataFolder)
  const newPath = `${path}.${process.pid}.new`
  writeFileSync(newPath, `${keys.join('\n')}\n`, { mode: 0o600, flush: true })
  renameSync(newPath, path)
}
