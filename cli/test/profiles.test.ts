// The file of profiles, changed by several processes at the same time.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Profile, readProfiles, saveProfile, updateProfile } from '../src/service/profiles.ts'
import { dataFolder } from './run-jobcast.ts'

const modulePath = new URL('../src/service/profiles.ts', import.meta.url).href
const processes = 6
const savesEach = 8

function profilesIn(t: TestContext): string {
  const file = join(dataFolder(t), 'jobcast', 'profiles.json')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  return file
}

/** Saves profiles under names of its own, as fast as it can. */
async function saveInProcess(file: string, name: string): Promise<unknown> {
  const program = `
    const { saveProfile } = await import(${JSON.stringify(modulePath)})
    for (let at = 0; at < ${savesEach}; at++)
      await saveProfile(${JSON.stringify(file)}, '${name}-' + at, { url: 'http://x', apiKey: 'jc_' + at })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'inherit' })
  return (await once(child, 'exit'))[0]
}

test('processes that save profiles at the same time lose none, and the file stays private', async (t) => {
  const file = profilesIn(t)
  const names = Array.from({ length: processes }, (_, at) => `p${at}`)
  const codes = await Promise.all(names.map((name) => saveInProcess(file, name)))
  assert.deepEqual(codes, Array(processes).fill(0))
  assert.equal(readProfiles(file).byName.size, processes * savesEach)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(dirname(file)), ['profiles.json'], 'no lock and no draft is left')
})

test('a renewed key does not overwrite a login that took place meanwhile', async (t) => {
  const file = profilesIn(t)
  const signedIn = (refreshToken: string): Profile => ({
    url: 'http://x',
    apiKey: `key of ${refreshToken}`,
    person: { issuer: 'http://issuer', clientId: 'cli', refreshToken, expiresAt: 1 },
  })
  await saveProfile(file, 'ana', signedIn('first'))
  await saveProfile(file, 'ana', signedIn('second'))
  await updateProfile(file, 'ana', { from: signedIn('first'), to: signedIn('renewed first') })
  assert.deepEqual(readProfiles(file).byName.get('ana'), signedIn('second'))
  await updateProfile(file, 'ana', { from: signedIn('second'), to: signedIn('renewed second') })
  assert.deepEqual(readProfiles(file).byName.get('ana'), signedIn('renewed second'))
})

test('the lock of a killed process is taken over, by all processes that wait for it', async (t) => {
  const file = profilesIn(t)
  const lock = `${file}.lock`
  writeFileSync(lock, 'killed')
  const longAgo = new Date(Date.now() - 60_000)
  utimesSync(lock, longAgo, longAgo)
  const codes = await Promise.all(['a', 'b', 'c'].map((name) => saveInProcess(file, name)))
  assert.deepEqual(codes, [0, 0, 0])
  assert.equal(Object.keys(JSON.parse(readFileSync(file, 'utf8')).profiles).length, 3 * savesEach)
})
