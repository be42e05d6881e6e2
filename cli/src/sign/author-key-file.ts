// The key of an author as two PEM files. The private one stays with its author: no command sends it anywhere.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { keyIdOf, readAuthorKeys } from '@jobcast/agent/author-key'
import { systemReason } from '@jobcast/contract/words'
import { UsageError } from '../errors/usage-error.ts'

const readableByOthers = 0o077

/** `author.pem` -> `author.pub.pem`. */
function publicFileOf(file: string): string {
  return `${file.replace(/\.pem$/, '')}.pub.pem`
}

/** Never overwrites a file. */
export function writeAuthorKey(file: string): { keyId: string; privateKey: string; publicKey: string } {
  const [privateFile, publicFile] = [resolve(file), resolve(publicFileOf(file))]
  if (!existsSync(dirname(privateFile))) throw new UsageError(`folder ${dirname(privateFile)} does not exist`)
  for (const path of [privateFile, publicFile]) {
    if (existsSync(path)) throw new UsageError(`${path} already exists; a key is never overwritten`)
  }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const options = { mode: 0o600, flag: 'wx' }
  writeFileSync(privateFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), options)
  writeFileSync(publicFile, publicKey.export({ type: 'spki', format: 'pem' }), { ...options, mode: 0o644 })
  return { keyId: keyIdOf(publicKey), privateKey: privateFile, publicKey: publicFile }
}

export type SigningKey = { keyId: string; key: KeyObject }

export function readSigningKey(file: string): SigningKey {
  const pem = readPem(file)
  if (/-----BEGIN (?:\w+ )?PUBLIC KEY-----/.test(pem)) {
    throw new UsageError(`${file} is a public key, for devices; sign with the private key`)
  }
  if (process.platform !== 'win32' && statSync(file).mode & readableByOthers) {
    throw new UsageError(`others can read ${file}: chmod 600 ${file}`)
  }
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw new UsageError(
      `${file} is not an unencrypted private key in PEM; "jobcast keys author new" creates one`,
    )
  }
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new UsageError(`${file} is a key of type ${key.asymmetricKeyType}; authors sign with Ed25519`)
  }
  return { keyId: keyIdOf(createPublicKey(key)), key }
}

/** The ids of the public keys in a file, or that of the public part of a private key. */
export function readKeyIds(file: string): string[] {
  const pem = readPem(file)
  if (pem.includes('PRIVATE KEY-----')) return [readSigningKey(file).keyId]
  try {
    return readAuthorKeys(pem).map(({ keyId }) => keyId)
  } catch (error) {
    throw new UsageError(`${file} ${systemReason(error as Error)}`)
  }
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${(error as Error).message}`)
  }
}
