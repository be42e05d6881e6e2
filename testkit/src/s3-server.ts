// A real S3-compatible store: Debian's OpenStack Swift with its S3 API, in one process that ends with the test.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Config } from '@jobcast/server'
import { endWithProcess } from './end-with-process.ts'
import { freePort } from './free-port.ts'
import { type Ending, newTemporaryFolder, removeAfter } from './temporary-folder.ts'
import { within } from './within.ts'

const program = fileURLToPath(new URL('s3-server.py', import.meta.url))
const credentials = { accessKeyId: 'test:tester', secretAccessKey: 'testing' }
const bucket = 'jobcast-files'
/** A failsafe, far above the time of a start. */
const startMs = 180_000

/** For the `skip` of a test: false if Swift is installed. */
export const withoutS3: string | false =
  spawnSync('swift-proxy-server', ['--version']).error === undefined
    ? false
    : 'swift is not installed (Debian: apt-get install swift-proxy swift-account swift-container swift-object)'

export type S3Server = {
  readonly url: string
  /** Of its one bucket; `endpoint`: a proxy in front of it. */
  settings(prefix: string, endpoint?: string): BucketSettings
  /** The same for the program. */
  env(prefix: string, endpoint?: string): Record<string, string>
  /** Stores an object, as another user of the bucket would. */
  put(key: string, content: Buffer): Promise<void>
}

type BucketSettings = NonNullable<Config['filesBucket']>

/** `leastPartBytes`: of a multipart upload, but for its last part. */
export async function openS3Server(t: Ending, leastPartBytes = 64 * 1024): Promise<S3Server> {
  const folder = newTemporaryFolder()
  const port = await freePort()
  const { accessKeyId, secretAccessKey } = credentials
  const words = [folder, String(port), String(leastPartBytes), accessKeyId, secretAccessKey, bucket]
  // Debian's Python has the modules of Swift.
  const child = spawn('/usr/bin/python3', [program, ...words], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // There are no names to resolve, and it starts in half the time.
    env: { ...process.env, EVENTLET_NO_GREENDNS: 'yes' },
  })
  endWithProcess(child)
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const gone = once(child, 'close')
  t.after(async () => {
    child.kill('SIGKILL')
    await gone
  })
  removeAfter(t, folder)
  const ended = gone.then(() => Promise.reject(new Error(`Swift did not start: ${errors}`)))
  const lines = createInterface({ input: child.stdout })
  await within(startMs, 'Swift does not serve', Promise.race([once(lines, 'line'), ended]))
  ended.catch(() => undefined)
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    settings: (prefix, endpoint = url) => ({
      ...{ endpoint, bucket, credentials },
      ...{ prefix: `${prefix}/`, region: 'us-east-1' },
    }),
    env: (prefix, endpoint = url) => ({
      JOBCAST_FILES_S3: `${endpoint}/${bucket}/${prefix}`,
      JOBCAST_FILES_S3_ACCESS_KEY_ID: accessKeyId,
      JOBCAST_FILES_S3_SECRET_ACCESS_KEY: secretAccessKey,
    }),
    async put(key, content) {
      // The API of Swift itself, which needs no signature.
      const headers = { 'x-auth-user': accessKeyId, 'x-auth-key': secretAccessKey }
      const signedIn = await fetch(`${url}/auth/v1.0`, { headers })
      const token = signedIn.headers.get('x-auth-token') ?? ''
      const path = key.split('/').map(encodeURIComponent).join('/')
      const stored = await fetch(`${signedIn.headers.get('x-storage-url')}/${bucket}/${path}`, {
        ...{ method: 'PUT', headers: { 'x-auth-token': token }, body: new Uint8Array(content) },
      })
      if (stored.status !== 201) throw new Error(`${stored.status}: ${await stored.text()}`)
    },
  }
}
