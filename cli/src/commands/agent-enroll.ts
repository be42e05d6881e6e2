// jobcast agent enroll: fetches a device's first token with an enrollment token.

import { Command, Option } from 'commander'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { flagsWithEnv } from '../flags/flags-with-env.ts'
import { readText } from '../input/read-content.ts'
import { type Io, withIo } from '../io.ts'
import { isHttpUrl } from '../service/http-url.ts'

type EnrollFlags = {
  server?: string
  device?: string
  tokenFile?: string
  enrollmentTokenFile?: string
  name?: string
}

export function enrollCommand(): Command {
  return new Command('enroll')
    .description('Fetch the first token of this device with an enrollment token.')
    .addOption(
      new Option('--server <url>', 'address of the service, for example https://jobs.example').env(
        'JOBCAST_SERVER',
      ),
    )
    .addOption(new Option('--device <deviceId>', 'deviceId of this device').env('JOBCAST_DEVICE'))
    .addOption(
      new Option('--token-file <file>', 'file to write the device token to (mode 0600)').env(
        'JOBCAST_TOKEN_FILE',
      ),
    )
    .option('--enrollment-token-file <file>', 'file with the enrollment token (je_…)')
    .option('--name <text>', 'name of the device (default: its deviceId)')
    .addHelpText(
      'after',
      '\n  JOBCAST_ENROLLMENT_TOKEN   the enrollment token itself, instead of --enrollment-token-file\n',
    )
    .action(
      withIo(async (io, _flags: EnrollFlags, command: Command) => {
        const { stdout, stderr } = io
        const flags = flagsWithEnv<EnrollFlags>(command, io.env)
        try {
          await enroll(io, flags)
          stdout.write(`${flags.device} is enrolled. Its token is in ${flags.tokenFile}.\n`)
          return exitCode.ok
        } catch (error) {
          stderr.write(`jobcast: cannot enroll the device: ${(error as Error).message}\n`)
          return error instanceof UsageError ? exitCode.usage : exitCode.unexpected
        }
      }),
    )
}

async function enroll(io: Io, { server, device, tokenFile, ...flags }: EnrollFlags): Promise<void> {
  if (!server || !device || !tokenFile) {
    throw new UsageError('--server, --device and --token-file are required')
  }
  const enrollmentToken = await readEnrollmentToken(io, flags)
  const { enrollDevice, httpAddress } = await import('@jobcast/agent')
  if (!isHttpUrl(server)) throw new UsageError(`"${server}" is not an address such as https://jobs.example`)
  await enrollDevice({
    server: httpAddress(server),
    deviceId: device,
    enrollmentToken,
    tokenFile,
    deviceName: flags.name,
  })
}

async function readEnrollmentToken(io: Io, { enrollmentTokenFile }: EnrollFlags): Promise<string> {
  const token = enrollmentTokenFile
    ? (await readText(io, enrollmentTokenFile)).trim()
    : io.env.JOBCAST_ENROLLMENT_TOKEN
  if (token?.startsWith('je_')) return token
  throw new UsageError(
    '--enrollment-token-file or JOBCAST_ENROLLMENT_TOKEN must give an enrollment token (je_…)',
  )
}
