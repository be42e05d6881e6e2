// Fetches a device's first token, for `jobcast-agent enroll`.

import { readFileSync, statSync } from 'node:fs'
import { systemReason } from '@jobcast/contract/words'
import { enrollDevice } from '../device/enroll.ts'
import { httpAddress } from '../transport/server-address.ts'
import type { EnrollFlags } from './flags.ts'
import { type ExitCode, exitCode, type ProcessIo } from './process-io.ts'

export async function runEnroll(io: ProcessIo, flags: EnrollFlags): Promise<ExitCode> {
  try {
    await enroll(io, flags)
    io.stdout.write(`${flags.device} is enrolled. Its token is in ${flags.tokenFile}.\n`)
    return exitCode.ok
  } catch (error) {
    io.stderr.write(`jobcast: cannot enroll the device: ${(error as Error).message}\n`)
    return error instanceof WrongUsage ? exitCode.usage : exitCode.unexpected
  }
}

class WrongUsage extends Error {}

async function enroll({ env, stderr }: ProcessIo, flags: EnrollFlags): Promise<void> {
  const { url, device, tokenFile, enrollmentTokenFile, name } = flags
  if (!url || !device || !tokenFile) throw new WrongUsage('--url, --device and --token-file are required')
  const enrollmentToken = readEnrollmentToken(enrollmentTokenFile, env)
  if (enrollmentTokenFile && isForOthers(enrollmentTokenFile)) {
    stderr.write(
      `Warning: others can read the enrollment token in ${enrollmentTokenFile}: chmod 600 ${enrollmentTokenFile}\n`,
    )
  }
  await enrollDevice({
    server: asUsage(() => httpAddress(url)),
    deviceId: device,
    enrollmentToken,
    tokenFile,
    deviceName: name,
  })
}

function readEnrollmentToken(file: string | undefined, env: NodeJS.ProcessEnv): string {
  const token = file ? asUsage(() => readText(file)).trim() : env.JOBCAST_ENROLLMENT_TOKEN
  if (token !== undefined && /^je_[0-9A-Za-z]{48}$/.test(token)) return token
  throw new WrongUsage(
    '--enrollment-token-file or JOBCAST_ENROLLMENT_TOKEN must give an enrollment token (je_…)',
  )
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new Error(`the enrollment token file ${file} cannot be read: ${systemReason(error as Error)}`)
  }
}

/** `-` is standard input. */
function isForOthers(file: string): boolean {
  return file !== '-' && (statSync(file).mode & 0o077) !== 0
}

function asUsage<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new WrongUsage((error as Error).message)
  }
}
