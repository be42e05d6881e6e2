// The bucket that files are kept in: whether it exists, accepts the credentials, and can be written to.

import { ConfigError, describeBucket, examineBucket, examineDirect, loadBucket } from '@jobcast/server'
import { exitCode } from '../errors/exit-code.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

/** Nothing without a bucket. */
export async function* checkBucket(
  env: NodeJS.ProcessEnv,
  flag: string | undefined,
): AsyncGenerator<Finding> {
  const address = flag ?? (env.JOBCAST_FILES_S3 || undefined)
  if (address === undefined) return
  let settings: ReturnType<typeof loadBucket>
  try {
    settings = loadBucket(address, env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    yield problem('bucket', error.message, exitCode.usage)
    return
  }
  const found = await examineBucket(settings)
  if (found) {
    yield problem('bucket', found.text, found.isLasting ? exitCode.validation : exitCode.unavailable)
    return
  }
  yield ok('bucket', `files can be kept in ${describeBucket(settings)}`)
  if (settings.endpoint.startsWith('http:'))
    yield warning('bucket', 'content of files is sent in clear text: use https')
  if (settings.direct !== undefined) yield* checkDirect(settings, settings.direct)
}

/** Whether devices can fetch from the bucket itself. */
async function* checkDirect(
  settings: ReturnType<typeof loadBucket>,
  direct: string,
): AsyncGenerator<Finding> {
  const found = await examineDirect(settings)
  if (found?.isLasting) yield problem('direct', `${found.text}: check files-s3-direct`, exitCode.validation)
  else if (found) yield warning('direct', found.text)
  else yield ok('direct', `devices can fetch files from ${direct}`)
  if (direct.startsWith('http:')) yield warning('direct', 'devices fetch files in clear text: use https')
}
