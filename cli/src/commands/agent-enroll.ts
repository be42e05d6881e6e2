// jobcast agent enroll: fetches a device's first token with an enrollment token.

import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import { exitCode } from '../errors/exit-code.ts'
import { flagsWithEnv } from '../flags/flags-with-env.ts'
import { withIo } from '../io.ts'

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
      withIo(async ({ stdout, stderr, env }, _flags: EnrollFlags, command: Command) => {
        const flags = flagsWithEnv<EnrollFlags>(command, env)
        try {
          await enroll(flags, env)
          stdout.write(`${flags.device} is enrolled. Its token is in ${flags.tokenFile}.\n`)
          return exitCode.ok
        } catch (error) {
          stderr.write(`jobcast: cannot enroll the device: ${(error as Error).message}\n`)
          return exitCode.unexpected
        }
      }),
    )
}

async function enroll(flags: EnrollFlags, env: NodeJS.ProcessEnv): Promise<void> {
  const { server, device, tokenFile, enrollmentTokenFile, name } = flags
  if (!server || !device || !tokenFile) {
    throw new Error('--server, --device and --token-file must be given')
  }
  const enrollmentToken = enrollmentTokenFile
    ? readFileSync(enrollmentTokenFile, 'utf8').trim()
    : env.JOBCAST_ENROLLMENT_TOKEN
  if (!enrollmentToken?.startsWith('je_')) {
    throw new Error(
      '--enrollment-token-file or JOBCAST_ENROLLMENT_TOKEN must give an enrollment token (je_…)',
    )
  }
  const { enrollDevice, httpAddress } = await import('@jobcast/agent')
  await enrollDevice({
    server: httpAddress(server),
    deviceId: device,
    enrollmentToken,
    tokenFile,
    deviceName: name,
  })
}
