// jobcast agent enroll: fetches a device's first token with the token of an enrolment.

import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'

type EnrollFlags = {
  server?: string
  device?: string
  tokenFile?: string
  enrollmentTokenFile?: string
  name?: string
}

export function enrollCommand(): Command {
  return new Command('enroll')
    .description('Fetch the token of this device, once, with an enrolment token.')
    .addOption(
      new Option('--server <url>', 'the service, for example https://jobs.example').env('JOBCAST_SERVER'),
    )
    .addOption(new Option('--device <deviceId>', 'who this device is to be').env('JOBCAST_DEVICE'))
    .addOption(
      new Option('--token-file <file>', 'where to put the token (mode 0600)').env('JOBCAST_TOKEN_FILE'),
    )
    .option('--enrollment-token-file <file>', 'holds the enrolment token (je_…)')
    .option('--name <text>', 'the name of the device; its deviceId unless said')
    .addHelpText('after', '\n  JOBCAST_ENROLLMENT_TOKEN   the enrolment token itself, instead of a file\n')
    .action(async (_: EnrollFlags, command: Command) => {
      // The command above it has flags of the same names, and takes them for itself.
      const flags: EnrollFlags = command.optsWithGlobals()
      try {
        await enroll(flags)
        console.log(`${flags.device} is enrolled; its token is in ${flags.tokenFile}.`)
      } catch (error) {
        console.error(`The device cannot be enrolled: ${(error as Error).message}`)
        process.exit(1)
      }
    })
}

async function enroll(flags: EnrollFlags): Promise<void> {
  const { server, device, tokenFile, enrollmentTokenFile, name } = flags
  if (!server || !device || !tokenFile) {
    throw new Error('--server, --device and --token-file must be given')
  }
  const enrollmentToken = enrollmentTokenFile
    ? readFileSync(enrollmentTokenFile, 'utf8').trim()
    : process.env.JOBCAST_ENROLLMENT_TOKEN
  if (!enrollmentToken?.startsWith('je_')) {
    throw new Error('--enrollment-token-file or JOBCAST_ENROLLMENT_TOKEN must give an enrolment token (je_…)')
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
